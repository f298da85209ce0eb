import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES } from '../../shared/auth/scopes.ts'
import { ACCOUNT } from '../emulators/aws-client.ts'
import { openReceiver, type WebhookReceiver } from '../emulators/webhook-receiver.ts'
import { slackSettings } from '../integration/aws/slack-settings.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { WEBHOOK_SECRETS, webhookSettings } from '../integration/aws/webhook-settings.ts'
import { type Door, doorTo, TENANTS } from '../integration/tenants/door.ts'
import { type Filled, fillTenant } from '../integration/tenants/fill-tenant.ts'
import { tenantTests } from '../integration/tenants/tenant-suite.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Several tenants of the deployed application: bundles, roles and authorizer of the templates, with bearer tokens. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
let hook: WebhookReceiver
let made: Synthesized
let place: Deployment
let door: Door
let acme: Filled
let globex: Filled

beforeAll(async () => {
  hook = await openReceiver([SECRET])
  hook.react(410)
  const { slack: _, ...settings } = slackSettings()
  const [key] = WEBHOOK_SECRETS
  const webhooks = TENANTS.map((tenant) =>
    webhookSettings({
      ...{ name: `hook-${tenant}`, url: hook.url, events: ['run:completed'], tenant, key: { secret: key } },
    }),
  )
  // Stage settings refuse both; the receiver stands on this machine.
  const http_gates = { ...settings.http_gates, loopback: true, ports: [hook.port] }
  const safety = { ...settings.safety, max_runs: 100, max_requests_per_min: 10_000 }
  const context = { 'sluice:auth': 'token', 'sluice:tenants': `main,${TENANTS.join(',')}` }
  made = await synthesize(context, { ...settings, http_gates, safety, webhooks, tenants: ['main', ...TENANTS] })
  place = await deploy(made.out, { [key]: SECRET })
  const tokens = new Map<string, string>()
  for (const tenant of TENANTS) tokens.set(tenant, await firstToken(tenant))
  door = doorTo(place.api.url, (tenant) => tokens.get(tenant) ?? '')
  acme = await fillTenant(door, 'acme')
  globex = await fillTenant(door, 'globex')
}, 360_000)
afterAll(async () => {
  await place?.close()
  await hook?.close()
  made?.remove()
})

/** As the one deployment before this one, of signed callers, whose operator makes the first token of each tenant. */
async function firstToken(tenant: string): Promise<string> {
  const answer = await createToken(tenant, { kind: 'token', id: '0'.repeat(16), tenant, scopes: SCOPES.join(' ') })
  expect(answer.statusCode, answer.body).toBe(201)
  return JSON.parse(answer.body).token
}

async function createToken(tenant: string, authorizer: object) {
  return (await place.sandboxes('create-token').invoke({
    ...{ resource: '/api/tokens', path: '/api/tokens', httpMethod: 'POST', pathParameters: null },
    ...{ queryStringParameters: null, headers: { 'content-type': 'application/json' }, isBase64Encoded: false },
    body: JSON.stringify({ name: `first of ${tenant}`, scopes: SCOPES, tenant }),
    requestContext: { accountId: ACCOUNT, identity: { userArn: null }, authorizer },
  })) as { readonly statusCode: number; readonly body: string }
}

describe('two tenants of a deployment', () => tenantTests(() => ({ door, acme, globex })))

test('no function was refused what it needs, nor did any fail', () => {
  expect(place.denied).toEqual([])
  expect(place.api.errors).toEqual([])
})
