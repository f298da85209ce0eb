import { type Command, Option } from 'commander'
import { CONTRACT_SKELETONS } from '../../../shared/goals/contract-skeletons.ts'
import { FINAL_STATUSES } from '../../../shared/goals/decision-table.ts'
import { wholeNumber } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import type { InitOptions } from './contract-files.ts'
import type { EvaluateOptions } from './evaluate.ts'

interface LineOptions {
  readonly json?: true
  readonly ndjson?: true
}

const NDJSON = 'read JSON lines from stdin, answer a line each; exit code 0 when all were answered (docs/goal-gates.md)'

/** `sluice goal evaluate`, `validate`, `decide` and `init`; none needs a server. */
export function addGoal(parent: Command, session: Session): void {
  const goal = parent.command('goal').description('goal contracts and the two gates of completion, without a server')
  addEvaluate(goal, session)
  addInit(goal, session)
  goal
    .command('validate')
    .description('check goal contracts; exit code 100 when one has errors')
    .argument(
      '[files...]',
      'a contract, a document that has one under goal_contract, a notebook, or an .md with front matter',
    )
    .option('--json', 'print JSON')
    .option('--ndjson', NDJSON)
    .action(async (files: readonly string[], { json, ndjson }: LineOptions) => {
      if (ndjson === true && files.length > 0) throw usageError('Give files or --ndjson, not both.')
      if (ndjson === true) return await answerLines(session, 'validate')
      const { goalValidate } = await import('./contract-files.ts')
      goalValidate(session, files, json === true)
    })
  goal
    .command('decide')
    .description('what a trust score, quality and a goal status decide: lines on stdin')
    .option('--ndjson', 'the form of stdin and stdout (the only one there is)')
    .action(async ({ ndjson }: LineOptions) => {
      if (ndjson !== true)
        throw usageError('Say --ndjson: what is to be decided comes as lines on stdin, one JSON object a line.')
      await answerLines(session, 'decide')
    })
}

function addInit(goal: Command, session: Session): void {
  goal
    .command('init')
    .description('write a goal contract into a DAG, notebook or Markdown file; every other byte stays as it is')
    .argument('<file>', 'a document .yaml or .json, a notebook .ipynb, or an .md')
    .addOption(
      new Option('--type <type>', 'the kind of work; default ml_classification')
        .choices(Object.keys(CONTRACT_SKELETONS))
        .conflicts('contract'),
    )
    .option('--goal-text <text>', 'the goal in words')
    .option('--contract <file>', 'this contract instead of a skeleton')
    .option('--replace', 'write over the contract that is there')
    .action(async (file: string, options: InitOptions) => {
      const { goalInit } = await import('./contract-files.ts')
      goalInit(session, file, options)
    })
}

function addEvaluate(goal: Command, session: Session): void {
  goal
    .command('evaluate')
    .description('evaluate a goal contract against the text and artifacts of a run; exit code 3 for partial or blocked')
    .option(
      '--contract <file>',
      'YAML: a contract, or a document that has one under goal_contract; without it the goal gate is skipped',
    )
    .option(
      '--notebook <file>',
      'an .ipynb: the contract in its front matter (gyoshu.goal_contract), what its cells printed, files beside it; or an .md, with --output',
    )
    .option('--output <file>', 'the text with the markers')
    .option('--artifacts <files...>', 'files the run has written; each must be there')
    .option('--trust <scores...>', 'trust score of each verifier, 0 to 100; none fails the trust gate')
    .addOption(new Option('--claimed <status>', 'what the run claims; default SUCCESS').choices(FINAL_STATUSES))
    .addOption(new Option('--quality <profile>', 'default standard').choices(['standard', 'ml']))
    .option('--failed-attempts <n>', 'attempts at this goal that failed before', wholeNumber(0, 1_000_000))
    .option('--blockers <texts...>', 'what keeps the goal from being met')
    .option('--json', 'print JSON')
    .option('--ndjson', NDJSON)
    .action(async (options: EvaluateOptions & LineOptions) => {
      if (options.ndjson === true) {
        if (Object.keys(options).length > 1)
          throw usageError('With --ndjson everything comes on stdin: give no other option.')
        return await answerLines(session, 'evaluate')
      }
      const { goalEvaluate } = await import('./evaluate.ts')
      goalEvaluate(session, options)
    })
}

async function answerLines(session: Session, question: 'validate' | 'decide' | 'evaluate'): Promise<void> {
  const { GOAL_ANSWERS, answerGoalLines } = await import('./evaluate.ts')
  await answerGoalLines(session, GOAL_ANSWERS[question])
}
