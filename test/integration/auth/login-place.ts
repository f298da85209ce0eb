import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import type { AuthSettings } from '../../../shared/auth/settings.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

/** An answer as it came over the wire. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: Record<string, never>
}

/** A listening local place that asks for a login; its clock can be put forward. */
export interface LoginPlace {
  readonly place: Place
  readonly url: string
  readonly folder: string
  /** The text of the file the first token is written to. */
  firstToken(): string
  forward(ms: number): void
  send(method: string, path: string, authorization: string | undefined, body?: unknown): Promise<Answered>
  /** Makes a token with the first one. */
  create(body: Readonly<Record<string, unknown>>): Promise<{ readonly token: string; readonly token_id: string }>
  close(): Promise<void>
}

export async function openLoginPlace(
  auth: AuthSettings,
  tenants: readonly string[] = ['main'],
  more: object = {},
): Promise<LoginPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-login-'))
  let ahead = 0
  const clock = { ...systemClock, now: () => systemClock.now() + ahead }
  const settings = SettingsSchema.parse({
    ...more,
    ...{ port: 0, data_dir: join(folder, 'data'), dags: [folder], auth, tenants },
    safety: { max_requests_per_min: 100_000 },
  })
  const place = await openPlace(settings, { listen: true, clock })
  const url = place.url ?? ''
  const firstToken = () => readFileSync(join(folder, 'data', 'first-token'), 'utf8').trim()
  const send = async (method: string, path: string, authorization: string | undefined, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    // Of the connection, and of whether the body had come already: nothing of what is answered.
    const { date, connection, 'keep-alive': keptAlive, ...headers } = Object.fromEntries(response.headers)
    return { status: response.status, headers, text, json: text.startsWith('{') ? JSON.parse(text) : {} }
  }
  return {
    ...{ place, url, folder, firstToken, send },
    forward: (ms) => {
      ahead += ms
    },
    async create(body) {
      const made = await send('POST', '/api/tokens', `Bearer ${firstToken()}`, body)
      if (made.status !== 201) throw new Error(made.text)
      return made.json as never
    },
    async close() {
      await place.close()
      rmSync(folder, { recursive: true })
    },
  }
}
