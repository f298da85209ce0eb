import { type Command, Option } from 'commander'
import type { Session } from './session.ts'
import type { RunStartOptions } from './start-document.ts'
import { withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

export function addRunStart(run: Command, session: Session): void {
  withTarget(run.command('start').description('start a run; with no server there, run it to its end right here'))
    .argument('[file-or-name]', 'a DAG file, or a document of the server by name')
    .option('--example <name>', 'a document shipped with the package, for example basic')
    .option('--input <key=value>', 'a run input; repeat it', (pair, pairs: string[] = []) => [...pairs, pair])
    .option('--context-json <file>', 'free values from a JSON file with one object')
    .option(
      '--goal-contract <file>',
      'what the run is to reach (YAML or JSON), in place of the contract of its document',
    )
    .option('--continue <run>', 'go on from a run that has ended: its context and artifacts are seen')
    .addOption(
      new Option('--max-parallel <n>', 'blocks at once, 0 = as many as the place allows').argParser(
        wholeNumber(0, 1_000),
      ),
    )
    .option('--fail-fast', 'end the run at the first failed block')
    .addOption(
      new Option('--deadline-sec <n>', 'cancel it after that long; waiting for people does not count').argParser(
        wholeNumber(1, 31_536_000),
      ),
    )
    .option('--watch', 'follow it to its end')
    .option('--yes', 'approve what it asks, without a person; follows it too')
    .action(async (given: string | undefined, options: RunStartOptions) => {
      const { startDocument } = await import('./start-document.ts')
      await startDocument(session, given, options)
    })
}
