import { Fault } from '../../shared/errors.ts'
import { type BounceFacts, dueBounceRule } from '../../shared/runs/bounce-rules.ts'
import { blockOrdinal, blockOutcome } from '../../shared/runs/head.ts'
import type { World } from '../../shared/world.ts'
import { readProjections } from '../record/projections.ts'
import type { BlockCall } from './block-call.ts'

/**
 * Whether a block before this one in its bounce module has failed and is about to be sent back: then there is nothing to
 * do in this pass, and nothing to record. All blocks before this one have ended, so each pass answers this the same way.
 */
export async function awaitsBounce(call: BlockCall): Promise<boolean> {
  const { world, run, dag, index, head, module, block } = call
  if (module === undefined) return false
  const before = blocksBefore(call, block.id)
  const owners = new Set(module.rules.map((rule) => rule.block))
  const failed = [...owners].filter((id) => before.has(id) && blockOutcome(call, head, id) === 'failed')
  const lanes = new Map(failed.map((id) => [index.get(id) ?? -1, blockOrdinal(call, head, id) ?? 0]))
  for (const [at, projection] of await readProjections(world, run, lanes)) {
    const owner = dag.blocks[at]
    const gates = projection.failure?.gates ?? []
    if (owner !== undefined && dueBounceRule({ ...bounceFacts(call, gates), block: owner }) !== undefined) return true
  }
  return false
}

/** Ids of the blocks of the module that come before one of them, near or far. */
function blocksBefore({ dag, index, module }: BlockCall, id: string): ReadonlySet<string> {
  const members = new Set(module?.blocks)
  const upstreamOf = (of: string) => dag.blocks[index.get(of) ?? -1]?.upstream ?? []
  const before = new Set(upstreamOf(id).filter((other) => members.has(other)))
  for (const one of before) for (const other of upstreamOf(one)) if (members.has(other)) before.add(other)
  return before
}

/**
 * What an attempt is told: why the one before it in this pass was refused, and, before that, the verdicts that sent the
 * block back into its present epoch. Each gate is told of by its newest verdict: those of the block itself were judged
 * again, where an attempt of this pass was.
 */
export async function attemptFeedback(
  call: BlockCall,
  before: { readonly feedback?: readonly string[] } | undefined,
): Promise<readonly string[]> {
  const refused = before?.feedback ?? []
  return [...new Set([...(await bounceFeedback(call, refused.length > 0)), ...refused])]
}

/**
 * Of a bounce. In the first epoch of a run that comes after another, a model is told why somebody rejected that, or what
 * it missed of its goal.
 */
async function bounceFeedback(
  { world, run, meta, module, head, block, epoch }: BlockCall,
  judgedAgain: boolean,
): Promise<readonly string[]> {
  const before = meta.iterates ?? meta.pivots
  if (epoch === 0 && block.mode === 'ai' && before !== undefined) {
    return [Buffer.from(await readOwn(world, run.tenant, before.feedback_ref)).toString('utf8')]
  }
  if (module === undefined || epoch === 0) return []
  const lines: string[] = []
  for (const { key, hull, block: owner, bounce } of module.rules) {
    const fired = head.modules[String(module.key)]?.rules[key]
    if (fired?.feedback_ref === undefined || fired.epoch !== epoch || !hull.includes(block.id)) continue
    const text = Buffer.from(await readOwn(world, run.tenant, fired.feedback_ref)).toString('utf8')
    // close-module wrote it: a list of texts.
    const told = JSON.parse(text) as readonly string[]
    lines.push(...(judgedAgain && owner === block.id ? told.filter((line) => line === bounce.reason) : told))
  }
  return lines
}

/** HEAD names it, so it was written: what is not there now is away for a moment. */
async function readOwn({ objects }: Pick<World, 'objects'>, tenant: string, ref: string): Promise<Uint8Array> {
  return objects.get(tenant, ref).catch((cause: unknown) => {
    if (!(cause instanceof Fault && cause.name === 'NotFound')) throw cause
    throw new Fault('Unavailable', cause.code, cause.message, { cause })
  })
}

/** What the rules of a block's bounce module are asked about its failed gates. */
export function bounceFacts({ module, head, block }: BlockCall, gates: readonly string[]): BounceFacts {
  const fired = module === undefined ? undefined : head.modules[String(module.key)]
  return { module, fired, block, gates }
}
