import { Fault } from '../../shared/errors.ts'
import type { World } from '../../shared/world.ts'
import type { BlockCall } from './block-call.ts'

/**
 * The verdicts that sent this block back into its present epoch: every attempt there is told of them. In the first one
 * of a run that comes after another, a model is told why somebody rejected that, or what it missed of its goal.
 */
export async function bounceFeedback({
  world,
  run,
  meta,
  module,
  head,
  block,
  epoch,
}: BlockCall): Promise<readonly string[]> {
  const before = meta.iterates ?? meta.pivots
  if (epoch === 0 && block.mode === 'ai' && before !== undefined) {
    return [Buffer.from(await readOwn(world, run.tenant, before.feedback_ref)).toString('utf8')]
  }
  if (module === undefined || epoch === 0) return []
  const lines = new Set<string>()
  for (const { key, hull } of module.rules) {
    const fired = head.modules[String(module.key)]?.rules[key]
    if (fired?.feedback_ref === undefined || fired.epoch !== epoch || !hull.includes(block.id)) continue
    const text = Buffer.from(await readOwn(world, run.tenant, fired.feedback_ref)).toString('utf8')
    // close-module wrote it: a list of texts.
    for (const line of JSON.parse(text) as readonly string[]) lines.add(line)
  }
  return [...lines]
}

/** HEAD names it, so it was written: what is not there now is away for a moment. */
async function readOwn({ objects }: Pick<World, 'objects'>, tenant: string, ref: string): Promise<Uint8Array> {
  return objects.get(tenant, ref).catch((cause: unknown) => {
    if (!(cause instanceof Fault && cause.name === 'NotFound')) throw cause
    throw new Fault('Unavailable', cause.code, cause.message, { cause })
  })
}
