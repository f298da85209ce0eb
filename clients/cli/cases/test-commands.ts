import type { Command } from 'commander'
import { wholeNumber, withTargetOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import type { RecordCaseOptions } from './record-case.ts'
import type { RunCasesOptions } from './run-cases.ts'

/** `sluice test`: cases of documents, played here with scripts in place of models. */
export function addTest(parent: Command, session: Session): void {
  const test = parent
    .command('test')
    .description('play the cases of tests/*.yaml, offline and in virtual time; scripts stand for models')
    .argument('[files...]', 'default: tests/*.yaml')
    .option('--only <text>', 'cases whose name or file has this text')
    .option('--parallel <n>', 'cases at once, 1 to 32 (default: 4)', wholeNumber(1, 32))
    .option('--min-coverage <percent>', 'fail when less of the documents is reached', wholeNumber(0, 100))
    .option('--no-coverage', 'do not tell what no case reached')
    .option('--junit <file>', 'also write JUnit XML')
    .option('--json', 'print JSON')
    .action(async (files: readonly string[], options: RunCasesOptions) => {
      const { runCases } = await import('./run-cases.ts')
      await runCases(session, files, options)
    })
  withTargetOptions(test.command('record').description('write what a run that has ended was given and gave as a case'))
    .argument('<run-id>')
    .option('-o, --output <file>', 'the file of the case (default: tests/NAME-of-the-document-RUN.yaml)')
    .option('--force', 'write over a file of that name')
    .action(async (runId: string, options: RecordCaseOptions) => {
      const { recordCase } = await import('./record-case.ts')
      await recordCase(session, runId, options)
    })
}
