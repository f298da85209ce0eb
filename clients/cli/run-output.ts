import type { Command, CommandOptions } from 'commander'
import { chooseTarget, type Target } from './api.ts'
import { fetchRun } from './fetch-run.ts'
import { jsonText } from './json-text.ts'
import { type BlockOutputs, fetchOutputs, outputLines } from './outputs.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { sinkBlocks } from './sink-outputs.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addOutput(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('output', hidden).description('values of the outputs of a completed block'))
    .argument('<run-id>')
    .argument('[block]', 'default: the blocks no other waits for')
    .action((runId: string, block: string | undefined, options: TargetOptions) =>
      output(session, runId, block, options),
    )
}

async function output(session: Session, runId: string, block: string | undefined, options: TargetOptions) {
  const target = chooseTarget(session, options.url)
  const found = block === undefined ? await ofSinks(session, target, runId) : [await fetchOutputs(target, runId, block)]
  if (options.json === true) session.say(jsonText(block === undefined ? found : found[0], 2))
  else for (const line of found.flatMap(outputLines)) session.say(line)
}

/** A sink that has published nothing is told on stderr; Refused when that is true of all. */
async function ofSinks(session: Session, target: Target, runId: string): Promise<readonly BlockOutputs[]> {
  const sinks = sinkBlocks(await fetchRun(target, runId))
  const found: BlockOutputs[] = []
  const missing: Refused[] = []
  for (const { id } of sinks) {
    await fetchOutputs(target, runId, id).then(
      (outputs) => void found.push(outputs),
      (error: unknown) => {
        if (!(error instanceof Refused) || error.reason.code !== 'no_outputs') throw error
        missing.push(error)
      },
    )
  }
  if (found.length === 0) throw missing[0] ?? nothingToShow(runId)
  for (const { reason } of missing) session.warn(reason.detail)
  return found
}

function nothingToShow(runId: string): Refused {
  const detail = `Cannot show outputs of ${runId}: no block that others do not wait for declares any. Name a block.`
  return new Refused({ code: 'no_outputs', detail })
}
