import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { type Door, doorTo, TENANTS } from './door.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** A local place with a login and three tenants; each has an endpoint at this address. */
export async function openLocalDoor(
  hook: { readonly url: string; readonly port: number },
  more: object = {},
): Promise<Door & { readonly place: Place; readonly folder: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tenants-'))
  const settings = SettingsSchema.parse({
    ...{ port: 0, data_dir: join(folder, 'data'), dags: [folder], auth: { mode: 'token' } },
    inputs_dir: join(folder, 'inputs'),
    tenants: ['main', ...TENANTS],
    safety: { max_requests_per_min: 100_000, max_runs: 100 },
    ...more,
    http_gates: { loopback: true, ports: [hook.port] },
    webhooks: TENANTS.map((tenant) => ({
      ...{ name: `hook-${tenant}`, url: hook.url, events: ['run:completed'], tenant, key: { env: 'HOOK' } },
    })),
  })
  const place = await openPlace(settings, { listen: true, keys: new Map([['HOOK', SECRET]]) })
  const tokens = new Map(
    TENANTS.map((tenant) => [tenant, readFileSync(join(folder, 'data', `first-token-${tenant}`), 'utf8').trim()]),
  )
  return {
    ...doorTo(place.url ?? '', (tenant) => tokens.get(tenant as 'acme') ?? ''),
    place,
    folder,
    async close() {
      await place.close()
      rmSync(folder, { recursive: true })
    },
  }
}
