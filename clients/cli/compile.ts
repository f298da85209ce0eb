import type { Command } from 'commander'
import type { PrintOptions } from './print-machine.ts'
import type { Session } from './session.ts'
import { wholeNumber } from './whole-number.ts'

export function addCompile(parent: Command, session: Session): void {
  parent
    .command('compile')
    .description('print the state machine of a document (ASL); a function stands in it as a placeholder')
    .argument('<file>')
    .option('--json', 'print it as one line, exactly the text that is deployed')
    .option('--part <k>', 'print part k: a document too large for one machine is several', wholeNumber(1, 1_000))
    .action(async (file: string, options: PrintOptions) => {
      const { printMachine } = await import('./print-machine.ts')
      printMachine(session, file, options)
    })
}
