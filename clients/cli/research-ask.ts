import type { Command } from 'commander'
import type { AskOptions } from './answer-question.ts'
import type { Session } from './session.ts'
import { withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

export function addResearchAsk(research: Command, session: Session): void {
  withTarget(research.command('ask').description('ask the knowledge graph; with no server there, right here'))
    .argument('<question...>')
    .option('--hint <key=value>', 'for example entity_kind=country; repeat it', (pair, pairs: string[] = []) => [
      ...pairs,
      pair,
    ])
    .option(
      '--budget <tokens>',
      'of all model calls, and of the evidence (default: 4000)',
      wholeNumber(1, 1_000_000_000),
    )
    .option('--iterations <n>', 'refine rounds at most, 1 to 50 (default: 5)', wholeNumber(1, 50))
    .option('--keep-unsupported', 'sentences no evidence they cite says stay, marked; exit code 4 then')
    .option('--trace', 'also what each stage did')
    .action(async (words: readonly string[], options: AskOptions) => {
      const { askQuestion } = await import('./answer-question.ts')
      await askQuestion(session, words.join(' '), options)
    })
}

export function addResearchShow(research: Command, session: Session): void {
  withTarget(research.command('show').description('the answer of a research run, with its evidence'))
    .argument('<run-id>')
    .option('--trace', 'also what each stage did')
    .action(async (runId: string, options: AskOptions) => {
      const { showAnswer } = await import('./answer-question.ts')
      await showAnswer(session, runId, options)
    })
}
