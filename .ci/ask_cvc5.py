"""Reads SMT-LIB 2 on standard input and prints cvc5's answers: the wheel brings a library and no executable."""

import sys

import cvc5

solver = cvc5.Solver()
solver.setOption("incremental", "true")
solver.setOption("tlimit-per", "2000")
symbols = cvc5.SymbolManager(solver)
parser = cvc5.InputParser(solver, symbols)
parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.stdin.read(), "claims")
while True:
    command = parser.nextCommand()
    if command.isNull():
        break
    sys.stdout.write(command.invoke(solver, symbols))
