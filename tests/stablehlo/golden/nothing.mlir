module @main {
  func.func public @main() {
    return
  }
}
