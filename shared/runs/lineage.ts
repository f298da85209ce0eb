/** One run of a lineage: made from run `from`, by a retry, as its next cycle, by a rejected approval or as a pivot. */
export interface RunLink {
  readonly run_id: string
  readonly from: string
  readonly kind: 'retry' | 'continue' | 'iterate' | 'pivot'
  /** ISO time. */
  readonly at: string
}

/** The runs that came of one root run, which itself is none of them. */
export interface Lineages {
  /** Once a run, whoever repeats it. */
  linkRun(tenant: string, root: string, link: RunLink): Promise<void>
  /** Oldest first. */
  lineage(tenant: string, root: string): Promise<readonly RunLink[]>
}
