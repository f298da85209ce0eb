import { sha256 } from '../text/hash.ts'

/**
 * Names under which a model is offered tools: `[a-zA-Z0-9_-]{1,64}`, unique among those of one agent, and always the same
 * for the same list. `crm.find_customer` is `crm__find_customer`, `./steps/refund.ts` is `refund`. The first of a name
 * keeps it; one that comes later, or is too long, ends in digits of its own hash, so that what is added behind it changes
 * nothing.
 */
export function toolNames(uses: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  return uses.map((use) => {
    const name = unusedName(use, taken)
    taken.add(name)
    return name
  })
}

/** What providers take at most. */
const MOST = 64

function unusedName(use: string, taken: ReadonlySet<string>): string {
  const plain = plainName(use)
  const marked = ended(plain, sha256(use).slice(0, 6))
  const first = plain.length > MOST ? marked : plain
  const free = [first, marked].find((name) => !taken.has(name))
  if (free !== undefined) return free
  for (let n = 2; ; n += 1) {
    const name = ended(marked, String(n))
    if (!taken.has(name)) return name
  }
}

function plainName(use: string): string {
  const base = use.startsWith('./') ? use.replace(/^.*\//, '').replace(/\.[^.]*$/, '') : use.replaceAll('.', '__')
  return base.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'tool'
}

function ended(name: string, end: string): string {
  return `${name.slice(0, MOST - 1 - end.length)}_${end}`
}
