import type { Command } from 'commander'
import { wholeNumber, withTargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import type { AskOptions } from './ask.ts'

/** `sluice research ask|show|validate`; the last needs no server. */
export function addResearch(parent: Command, session: Session): void {
  const research = parent.command('research').description('ask the knowledge graph; payloads of the research chain')
  addResearchAsk(research, session)
  addResearchShow(research, session)
  research
    .command('validate')
    .description(
      'check lines {"id","type","input"}, or envelopes, from stdin; exit code 0 when all were answered (docs/research.md)',
    )
    .option('--ndjson', 'the form of stdin and stdout (the only one there is)')
    .action(async (options: { readonly ndjson?: true }) => {
      if (options.ndjson !== true)
        throw usageError('Say --ndjson: payloads come as lines on stdin, one JSON object a line.')
      const { validatePayloadLines } = await import('./validate-payloads.ts')
      await validatePayloadLines(session)
    })
}

function addResearchAsk(research: Command, session: Session): void {
  withTargetOptions(research.command('ask').description('ask the knowledge graph; with no server there, right here'))
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
      const { askQuestion } = await import('./ask.ts')
      await askQuestion(session, words.join(' '), options)
    })
}

function addResearchShow(research: Command, session: Session): void {
  withTargetOptions(research.command('show').description('the answer of a research run, with its evidence'))
    .argument('<run-id>')
    .option('--trace', 'also what each stage did')
    .action(async (runId: string, options: AskOptions) => {
      const { showAnswer } = await import('./ask.ts')
      await showAnswer(session, runId, options)
    })
}
