/** One thing `sluice doctor` looked at. `fix`: what to do, where it failed. */
export interface Check {
  readonly name: string
  readonly state: 'ok' | 'failed' | 'skipped'
  readonly says: string
  readonly fix?: string
}

export const check = {
  ok: (name: string, says: string): Check => ({ name, state: 'ok', says }),
  skipped: (name: string, says: string): Check => ({ name, state: 'skipped', says }),
  failed: (name: string, says: string, fix: string): Check => ({ name, state: 'failed', says, fix }),
}
