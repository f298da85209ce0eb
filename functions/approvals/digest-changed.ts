import { sha256 } from '../../shared/canonical.ts'
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
  const words =
    changed === undefined
      ? `It shows ${Object.entries(item.shown)
          .map(([port, { sha256: hash }]) => `${port} sha256 ${hash.slice(0, 12)}`)
          .join(', ')}`
      : `What you sent is the digest of "${earlier?.id}"; since then ${changed.join(', ')} changed`
  const message = `Cannot decide approval "${item.id}": what it shows has digest ${item.digest}, you sent ${sent}. ${words}. Look at it again and send its digest.`
  return new Fault('Conflict', 'digest_changed', message, {
    facts: { digest: item.digest, sent, ...(changed === undefined ? {} : { changed }) },
  })
}

/** Names of the ports that are other, new or gone; `prompt`; else it can only be the definition. */
function changesOf(earlier: ApprovalItem, now: ApprovalItem): readonly string[] {
  const ports = [...new Set([...Object.keys(earlier.shown), ...Object.keys(now.shown)])]
  const changed = ports.filter((port) => hashOf(earlier, port) !== hashOf(now, port))
  const prompt = sha256(earlier.prompt) === sha256(now.prompt) ? [] : ['the prompt']
  const all = [...changed.map((port) => `"${port}"`), ...prompt]
  return all.length > 0 ? all : ["the block's definition"]
}

function hashOf({ shown }: ApprovalItem, port: string): string | undefined {
  return Object.hasOwn(shown, port) ? shown[port]?.sha256 : undefined
}
