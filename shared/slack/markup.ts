import { escaped } from './plain.ts'

/** A moment in the reader's own time zone. */
export function dateMarkup(iso: string): string {
  const seconds = Math.floor(Date.parse(iso) / 1_000)
  return Number.isFinite(seconds)
    ? `<!date^${seconds}^{date_short_pretty} {time}|${escaped(iso, 40)}>`
    : escaped(iso, 40)
}

/** Members of the workspace among these principals, told as Slack tells somebody; each once, the first twenty. */
export function mentions(names: readonly string[], users: Readonly<Record<string, string>>): string {
  const known = names.flatMap((name) => {
    const own = /^slack:([UW][A-Z0-9]{2,20})$/.exec(name)?.[1]
    return own === undefined ? Object.keys(users).filter((id) => users[id] === name) : [own]
  })
  return [...new Set(known)]
    .slice(0, 20)
    .map((id) => `<@${id}>`)
    .join(' ')
}
