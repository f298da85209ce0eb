import type { Command } from 'commander'
import { wholeNumber, withTargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import type { ImportOptions } from './import-promptfoo.ts'
import type { EvalRunOptions, EvalShowOptions } from './run-eval.ts'

/** `sluice eval ..`: a data set times variants of documents. */
export function addEval(parent: Command, session: Session): void {
  const evaluation = parent
    .command('eval')
    .description('evaluations: a data set times variants of a document, counted and compared')
  addEvalRun(evaluation, session)
  addEvalShow(evaluation, session)
  addEvalImport(evaluation, session)
  evaluation
    .command('validate')
    .description('check evaluations, their data and their documents; exit code 100 when one has errors')
    .argument('[files...]', 'default: evals/*.yaml')
    .option('--json', 'print JSON')
    .action(async (files: readonly string[], { json }: { readonly json?: true }) => {
      const { validateEvals } = await import('./validate-evals.ts')
      await validateEvals(session, files, json === true)
    })
}

function addEvalRun(evaluation: Command, session: Session): void {
  withTargetOptions(
    evaluation.command('run').description('run a round, or what is left of one; with no server there, right here'),
  )
    .argument('[file]', 'an evaluation; default: the only one in evals/')
    .option('--fresh', 'a new round, also where the last one is not complete')
    .option('--concurrency <n>', 'runs under way at once, 1 to 100 (default: as the file says)', wholeNumber(1, 100))
    .option('--budget-usd <usd>', 'begin no run that may exceed this, all runs of the round together', dollars)
    .option('--budget-tokens <n>', 'the same in tokens', wholeNumber(1, 1_000_000_000_000))
    .option('--against <round>', 'compare with this round (default: the newest complete one before)')
    .option('--junit <file>', 'also write JUnit XML')
    .action(async (file: string | undefined, options: EvalRunOptions) => {
      const { runEval } = await import('./run-eval.ts')
      await runEval(session, file, options)
    })
}

function addEvalShow(evaluation: Command, session: Session): void {
  evaluation
    .command('show')
    .description('the tables of a round that was run, without a server')
    .argument('[file]', 'an evaluation; default: the only one in evals/')
    .option('--round <round>', 'which, by its name or the beginning of it (default: the newest)')
    .option('--against <round>', 'compare with this round (default: the newest complete one before)')
    .option('--junit <file>', 'also write JUnit XML')
    .option('--json', 'print JSON')
    .action(async (file: string | undefined, options: EvalShowOptions) => {
      const { showEval } = await import('./run-eval.ts')
      showEval(session, file, options)
    })
}

function addEvalImport(evaluation: Command, session: Session): void {
  evaluation
    .command('import')
    .description(
      'take over a promptfoo configuration: a document and an evaluation of it; what has no counterpart is named',
    )
    .argument('<file>', 'a promptfooconfig.yaml')
    .option('--name <name>', 'what both are called', 'promptfoo')
    .option('--force', 'write over files of these names')
    .option('--json', 'print JSON')
    .action(async (file: string, options: ImportOptions) => {
      const { importEval } = await import('./import-promptfoo.ts')
      importEval(session, file, options)
    })
}

function dollars(text: string): number {
  const read = /^\d{1,7}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(read)) return read
  throw usageError(`Cannot use --budget-usd "${text}": dollars such as 0.5 or 20 are needed.`)
}
