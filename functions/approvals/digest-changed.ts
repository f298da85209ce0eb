import { Fault } from '../../shared/errors.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/**
 * A decision about something else than is asked now: Fault Conflict digest_changed says what changed since, where the
 * digest is of another question of this block (of an earlier pass, say), else what is shown now.
 */
export async function digestChanged(
  world: Pick<World, 'runs'>,
  run: RunKey,
  item: ApprovalItem,
  sent: string,
): Promise<Fault> {
  const earlier = (await world.runs.approvals(run)).find(({ digest, block }) => digest === sent && block === item.block)
  const changed = earlier === undefined ? undefined : changesOf(earlier, item)
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
  const names = changed.map((name) => (name === PROMPT || name === DEFINITION ? name : `"${name}"`))
  return `What you sent is the digest of "${id}"; since then ${names.join(', ')} changed`
}

const PROMPT = 'the prompt'
const DEFINITION = "the block's definition"

/** Names of the ports that are other, new or gone; the prompt; else it can only be the definition. */
function changesOf(earlier: ApprovalItem, now: ApprovalItem): readonly string[] {
  const ports = [...new Set([...Object.keys(earlier.shown), ...Object.keys(now.shown)])]
  const changed = ports.filter((port) => hashOf(earlier, port) !== hashOf(now, port))
  const all = [...changed, ...(earlier.prompt === now.prompt ? [] : [PROMPT])]
  return all.length > 0 ? all : [DEFINITION]
}

function hashOf({ shown }: ApprovalItem, port: string): string | undefined {
  return Object.hasOwn(shown, port) ? shown[port]?.sha256 : undefined
}
