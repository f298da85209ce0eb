import type { Safety } from './safety-settings.ts'

/** What a place says of the people who decide, at this moment. */
export interface People {
  /** Name of a group -> whom it has now. */
  readonly groups: Readonly<Record<string, readonly string[]>>
  /** A name documents have for somebody, without its kind -> who that is here. */
  readonly names?: Readonly<Record<string, readonly string[]>> | undefined
  /** Who decides where a document names nobody. */
  readonly default_group?: string | undefined
  /** Slack's member id -> the principal that is the same person. */
  readonly aliases: Readonly<Record<string, string>>
  /** false: whoever started a run may not decide in it, whatever its document says. */
  readonly self_approval: boolean
}

/** What of the settings says who they are. */
interface PeopleSettings {
  readonly approvals: Pick<People, 'groups' | 'default_group'>
  readonly people: People['names']
  readonly slack?: { readonly users: People['aliases'] } | undefined
  readonly safety: Pick<Safety, 'self_approval'>
}

export function peopleOf({ approvals, people, slack, safety }: PeopleSettings): People {
  const { groups, default_group } = approvals
  return { groups, names: people, default_group, aliases: slack?.users ?? {}, self_approval: safety.self_approval }
}

/** One name a person: a member of Slack's workspace whom the settings know is called what they are elsewhere. */
export function personOf(name: string, { aliases }: Pick<People, 'aliases'>): string {
  const member = name.startsWith('slack:') ? name.slice('slack:'.length) : ''
  return (Object.hasOwn(aliases, member) ? aliases[member] : undefined) ?? name
}

/** Whom `user:owner` means where the settings say who `owner` is; undefined for every other name. */
export function peopleMeantBy(listed: string, { names = {} }: Pick<People, 'names'>): readonly string[] | undefined {
  const name = listed.startsWith('user:') ? listed.slice('user:'.length) : ''
  return Object.hasOwn(names, name) ? names[name] : undefined
}
