/** One thing `sluice doctor` looked at. A warning is no reason to stop. `fix`: what to do about it. */
export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly says: string
  readonly fix?: string
}

export const check = {
  ok: (name: string, says: string): Check => ({ name, state: 'ok', says }),
  skipped: (name: string, says: string): Check => ({ name, state: 'skipped', says }),
  warning: (name: string, says: string, fix: string): Check => ({ name, state: 'warning', says, fix }),
  failed: (name: string, says: string, fix: string): Check => ({ name, state: 'failed', says, fix }),
}
