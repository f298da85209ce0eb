import { type Binding, boundChanges } from '../../shared/approvals/binding.ts'
import { Fault } from '../../shared/errors.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/**
 * A decision about something else than is asked now: Fault Conflict digest_changed says what changed since, where the
 * digest is of another question of this block (of an earlier pass, say), else what is shown now.
 */
export async function digestChanged(
  world: Pick<World, 'runs' | 'objects'>,
  run: RunKey,
  item: ApprovalItem,
  sent: string,
): Promise<Fault> {
  const earlier = (await world.runs.approvals(run)).find(({ digest, block }) => digest === sent && block === item.block)
  const changed = earlier === undefined ? undefined : await changesOf(world, run, earlier, item)
  const words = changed === undefined ? shownWords(item) : changedWords(earlier?.id ?? '', changed)
  const message = `Cannot decide approval "${item.id}": what it shows has digest ${item.digest}, you sent ${sent}. ${words}. Look at it again and send its digest.`
  return new Fault('Conflict', 'digest_changed', message, {
    facts: { digest: item.digest, sent, ...(changed === undefined ? {} : { changed }) },
  })
}

function shownWords({ shown }: ApprovalItem): string {
  const values = Object.entries(shown).map(([port, { sha256 }]) => `${port} sha256 ${sha256.slice(0, 12)}`)
  return `It shows ${values.join(', ') || 'no values'}`
}

function changedWords(id: string, changed: readonly string[]): string {
  const names = changed.map((name) => (/^\w+$/.test(name) ? `"${name}"` : name))
  return `What you sent is the digest of "${id}"; since then ${names.join(', ')} changed`
}

const PROMPT = 'the prompt'
const DEFINITION = "the block's definition"

/** What is shown that is other, new or gone, the prompt; else what a yes binds; else it can only be the definition. */
async function changesOf(
  { objects }: Pick<World, 'objects'>,
  { tenant }: RunKey,
  earlier: ApprovalItem,
  now: ApprovalItem,
): Promise<readonly string[]> {
  const ports = [...new Set([...Object.keys(earlier.shown), ...Object.keys(now.shown)])]
  const changed = ports.filter((port) => hashOf(earlier, port) !== hashOf(now, port))
  const shown = [...changed, ...(earlier.prompt === now.prompt ? [] : [PROMPT])]
  if (shown.length > 0) return shown
  const [then, today] = [await bindingOf(objects, tenant, earlier), await bindingOf(objects, tenant, now)]
  const bound = then === undefined || today === undefined ? [] : boundChanges(then, today)
  return bound.length > 0 ? bound : [DEFINITION]
}

async function bindingOf(
  objects: World['objects'],
  tenant: string,
  { binding_ref }: ApprovalItem,
): Promise<Binding | undefined> {
  if (binding_ref === undefined) return undefined
  return JSON.parse(Buffer.from(await objects.get(tenant, binding_ref)).toString('utf8')) as Binding
}

function hashOf({ shown }: ApprovalItem, port: string): string | undefined {
  return Object.hasOwn(shown, port) ? shown[port]?.sha256 : undefined
}
