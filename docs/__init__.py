"""The pages, and the programs that write or draw parts of them."""
