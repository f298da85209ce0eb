import type { NotifyAbout, OutboxEntry } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

/** The message owed with an update: none where Slack is not configured for the tenant. One cause a moment: `at` makes the id unique. */
export function notifyEntry(
  { settings }: Pick<World, 'settings'>,
  { tenant }: Pick<RunKey, 'tenant'>,
  at: string,
  about: NotifyAbout,
  approval_id?: string,
): readonly OutboxEntry[] {
  if (settings.slack?.tenant !== tenant) return []
  const of = approval_id === undefined ? {} : { approval_id }
  const id = ['notify', about, approval_id ?? '', Date.parse(at)].join('-')
  return [{ id, at, kind: 'notify', about, ...of }]
}
