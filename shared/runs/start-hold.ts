/** Nobody may start a run of the tenant until it is released; who said so, and when (ISO time). */
export interface StartHold {
  readonly by: string
  readonly at: string
  readonly reason?: string
}

/** The tenant's SWITCH item. */
export interface StartHolds {
  startHold(tenant: string): Promise<StartHold | undefined>
  /** The newest one stays. */
  holdStarts(tenant: string, hold: StartHold): Promise<void>
  /** false when nothing was held. */
  releaseStarts(tenant: string): Promise<boolean>
}
