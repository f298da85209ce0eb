import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { assembled } from './assembled.ts'
import { assembledWithAll } from './assembled-with-all.ts'
import { type Assembly, ROOT } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'

const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/11111111-2222-3333-4444-555555555555'
const NETWORK = {
  subnets: ['subnet-0123456789abcdef0'],
  security_groups: ['sg-0123456789abcdef0'],
  endpoints: ['dynamodb', 's3', 'states', 'lambda'],
  internet: true,
}
const JWT = { mode: 'jwt', jwt: { issuer: 'https://login.example', audience: 'sluice' } }

/** Everything in a stage's settings that brings rights, in one of them at least. */
export const VARIANTS: Readonly<Record<string, () => Promise<Assembly>>> = {
  'as it is': () => assembled(),
  'with bearer tokens, a workspace, webhooks, services, steps, containers, anchors and events': assembledWithAll,
  'with JWTs, a key and a web ACL': () => assembled({ 'sluice:auth': JWT, 'sluice:key': KEY, 'sluice:waf': 'managed' }),
  'of two tenants, one with a workspace, and a key': () =>
    assembled({ 'sluice:auth': 'token', 'sluice:key': KEY, 'sluice:tenants': 'main,other' }, slackSettings()),
  'with models of Bedrock': () => assembled({}, withModels()),
  'in a network, closed': () => assembled({ 'sluice:network': NETWORK }, closedSettings()),
}

function withModels() {
  const shipped = parseSettings(readFileSync(join(ROOT, 'sluice.yaml'), 'utf8'), 'sluice.yaml')
  const model = 'us.anthropic.claude-sonnet-4-20250514-v1:0'
  const providers = { far: { type: 'bedrock', region: 'us-east-1', models: [model] } }
  return SettingsSchema.parse({ ...shipped, providers, research: { provider: 'far', model } })
}

function closedSettings() {
  return { ...readStageSettings(ROOT, { stage: 'dev' }), authoring: 'deployed_only' as const }
}
