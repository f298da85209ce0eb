/** A search somebody gave a name, for everybody of the tenant. */
export interface SavedView {
  readonly name: string
  readonly q: string
  /** Who wrote it last, and when (ISO). */
  readonly by: string
  readonly at: string
}

/** So many a tenant has. */
export const MOST_VIEWS = 200

/** Views, as a part of the run store. Every write is one write and safe to repeat. Suite: test/conformance/run-store-view-suite.ts. */
export interface SavedViews {
  /** In the order of their names. */
  views(tenant: string): Promise<readonly SavedView[]>
  /** The whole view, whether or not there was one of its name. */
  putView(tenant: string, view: SavedView): Promise<void>
  /** Whether or not it is there. */
  removeView(tenant: string, name: string): Promise<void>
}
