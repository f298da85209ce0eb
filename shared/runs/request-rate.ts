/** How many requests of one caller were counted in one window of time. */
export interface RequestRate {
  /** ONE conditional write: counts this one if fewer than `cap` were counted in that window; false = too many. */
  countRequest(tenant: string, caller: string, window: string, cap: number): Promise<boolean>
}
