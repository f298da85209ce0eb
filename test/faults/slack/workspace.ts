/** The one workspace of the simulation: who is in it, and what sluice.yaml says of it and of the people. */
export const SECRET = 'the signing secret of the simulation'

export const TEAM = 'T0SIM0001'
export const APP = 'A0SIM0001'
/** Two are known by another name too, two are not. */
export const MEMBERS = ['U0ANA0001', 'U0BOB0001', 'U0CYN0001', 'U0DAN0001'] as const
/** Who decides through the API. */
export const USERS = ['ana', 'bo', 'cyn', 'dan'] as const
export const ALIASES = { U0ANA0001: 'user:ana', U0BOB0001: 'user:bo' }

export const SLACK_SETTINGS = {
  team_id: TEAM,
  app_id: APP,
  channel: 'C0SIM0001',
  token: { env: 'SLACK_TOKEN' },
  signing_secret: { env: 'SLACK_SECRET' },
  users: ALIASES,
}

/** Some stand there by both of their names. */
export const GROUPS = {
  release: ['user:ana', 'user:bo', 'slack:U0ANA0001', 'slack:U0BOB0001', 'slack:U0CYN0001'],
  leads: ['user:dan', 'slack:U0DAN0001', 'user:ana', 'slack:U0ANA0001'],
}

/** One name a person, whichever door they came by: what quorums count. */
export function personNamed(name: string): string {
  const member = name.replace(/^slack:/, '')
  return (ALIASES as Readonly<Record<string, string>>)[member] ?? name
}
