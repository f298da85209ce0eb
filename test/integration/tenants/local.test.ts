import { afterAll, beforeAll, describe } from 'vitest'
import { openReceiver, type WebhookReceiver } from '../../emulators/webhook-receiver.ts'
import { type Filled, fillTenant } from './fill-tenant.ts'
import { openLocalDoor, SECRET } from './local-door.ts'
import { tenantTests } from './tenant-suite.ts'

let hook: WebhookReceiver
let door: Awaited<ReturnType<typeof openLocalDoor>>
let acme: Filled
let globex: Filled

beforeAll(async () => {
  hook = await openReceiver([SECRET])
  hook.react(410)
  door = await openLocalDoor(hook)
  acme = await fillTenant(door, 'acme')
  globex = await fillTenant(door, 'globex')
}, 120_000)
afterAll(async () => {
  await door?.close()
  await hook?.close()
})

describe('two tenants of a local place', () => tenantTests(() => ({ door, acme, globex })))
