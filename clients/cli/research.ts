import type { Command } from 'commander'
import { usage } from './refused.ts'
import { addResearchAsk, addResearchShow } from './research-ask.ts'
import type { Session } from './session.ts'

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
      if (options.ndjson !== true) throw usage('Say --ndjson: payloads come as lines on stdin, one JSON object a line.')
      const { researchLines } = await import('./research-lines.ts')
      await researchLines(session)
    })
}
