from tests import environment

environment.prepare()
