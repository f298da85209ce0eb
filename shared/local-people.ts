import { type Principal, principalName } from './principal.ts'
import type { Settings } from './settings.ts'

/**
 * The people of a place on one machine: `owner`, whom documents of other tools ask, is whoever runs it, unless the
 * settings say somebody else. Without login nobody else can come but by Slack.
 */
export function withLocalPeople(settings: Settings, user: Pick<Principal, 'kind' | 'id'>): Settings {
  const me = principalName(user)
  const people = { owner: [me], ...settings.people }
  return settings.auth === undefined ? { ...settings, people, local_person: me } : { ...settings, people }
}
