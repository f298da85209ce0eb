/**
 * Names under which a model is offered tools: `[a-zA-Z0-9_-]{1,64}`, unique among those of one agent, always the same for
 * the same list. `crm.find_customer` is `crm__find_customer`, `./steps/refund.ts` is `refund`.
 */
export function toolNames(uses: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  return uses.map((use) => {
    const name = unusedName(plainName(use), taken)
    taken.add(name)
    return name
  })
}

const MOST = 64

function plainName(use: string): string {
  const base = use.startsWith('./') ? use.replace(/^.*\//, '').replace(/\.[^.]*$/, '') : use.replaceAll('.', '__')
  return base.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MOST) || 'tool'
}

function unusedName(name: string, taken: ReadonlySet<string>): string {
  for (let n = 2, tried = name; ; n += 1) {
    if (!taken.has(tried)) return tried
    tried = `${name.slice(0, MOST - 4)}_${n}`
  }
}
