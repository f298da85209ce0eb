import type { NotifyAbout, OutboxEntry } from '../../shared/runs/head.ts'
import type { World } from '../../shared/world.ts'

/** The message owed with an update: none where Slack is not configured. One cause a moment: `at` makes the id unique. */
export function notifyEntry(
  { settings }: Pick<World, 'settings'>,
  at: string,
  about: NotifyAbout,
  approval_id?: string,
): readonly OutboxEntry[] {
  if (settings.slack === undefined) return []
  const of = approval_id === undefined ? {} : { approval_id }
  const id = ['notify', about, approval_id ?? '', Date.parse(at)].join('-')
  return [{ id, at, kind: 'notify', about, ...of }]
}
