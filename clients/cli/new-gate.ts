import type { Command } from 'commander'
import type { NewGateOptions } from './print-gate.ts'
import type { Session } from './session.ts'

export function addNewGate(parent: Command, session: Session): void {
  parent
    .command('gate')
    .description('print a gate to paste below post_gates (or pre_gates) of a block')
    .argument('<name>', 'what the gate is called: verdicts and people see it')
    .requiredOption('--type <type>', 'what it checks; `gates list` has all types')
    .option('--port <port>', 'output (or input) it looks at')
    .option('--json', 'print JSON')
    .action(async (name: string, options: NewGateOptions) => {
      const { printGate } = await import('./print-gate.ts')
      printGate(session, name, options)
    })
}
