/** One run of a lineage: made from run `from`, by a retry, as its next cycle, by a rejected approval or as a pivot. */
export interface RunLink {
  readonly run_id: string
  readonly from: string
  readonly kind: 'retry' | 'continue' | 'iterate' | 'pivot'
  /** ISO time. */
  readonly at: string
}

/** How many runs took the place of one another on the way from the root to this one, itself counted. */
export function iterationsBefore(lineage: readonly RunLink[], run_id: string): number {
  const links = new Map(lineage.map((link) => [link.run_id, link]))
  let count = 0
  for (let link = links.get(run_id); link !== undefined; link = links.get(link.from)) {
    count += Number(link.kind === 'iterate')
    links.delete(link.run_id)
  }
  return count
}

/** The runs that came of one root run, which itself is none of them. */
export interface Lineages {
  /** Once a run, whoever repeats it. */
  linkRun(tenant: string, root: string, link: RunLink): Promise<void>
  /** Oldest first. */
  lineage(tenant: string, root: string): Promise<readonly RunLink[]>
}
