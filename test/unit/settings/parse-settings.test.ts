import { describe, expect, it } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

function faultOf(text: string): Fault {
  try {
    parseSettings(text, 'sluice.yaml')
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('accepted')
}

const ARN = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:sluice/openai-AbCdEf'

describe('parseSettings()', () => {
  it.each(['', '\n\n', '# nothing yet\n', '\uFEFF# nothing'])('takes %j for all defaults', (text) => {
    expect(parseSettings(text, 'sluice.yaml')).toEqual(SettingsSchema.parse({}))
  })

  it('fills in the defaults around what is given', () => {
    const settings = parseSettings('port: 5000\nsafety: { max_attempts: 2 }\n', 'sluice.yaml')
    expect([settings.port, settings.safety.max_attempts, settings.safety.max_parallel]).toEqual([5000, 2, 50])
  })

  it.each([
    ['a value out of range', 'version: 1\nsafety:\n  max_attempts: 900\n', 3, 3, /max_attempts.*<=100.*seen: 900/],
    ['a wrong type', 'port: many\n', 1, 1, /port.*number.*seen: "many"/],
    ['an unknown key, with what was meant', 'dagz: [a]\n', 1, 1, /dagz.*did you mean "dags"/],
    ['an unknown key inside', 'safety:\n  max_attempt: 3\n', 2, 3, /did you mean "max_attempts"/],
    ['an unknown provider type', 'providers:\n  mine:\n    type: magic\n', 3, 5, /"local".*seen: "magic"/],
    [
      'an agent whose provider is not configured',
      'agents:\n  ana:\n    role: worker\n    provider: nope\n    model: m\n',
      4,
      5,
      /allowed: "local", "extractive" .*seen: "nope"/,
    ],
    ['a research provider that is not configured', 'research:\n  provider: nope\n  model: m\n', 2, 3, /seen: "nope"/],
    [
      'a research model nobody named',
      'research:\n  provider: local\n',
      2,
      3,
      /research.model: is missing: name a model/,
    ],
    ['a research limit out of range', 'research:\n  max_tokens: 1\n', 2, 3, /max_tokens.*>=64/],
    ['broken YAML', 'port: [1\n', 2, 1, /YAML/],
    ['a key given twice', 'port: 1\nport: 2\n', 2, 1, /port/],
    ['a list', '- port\n', 1, 1, /expected object/],
  ])('says where %s is, what was seen and what is allowed', (_name, text, line, column, words) => {
    const fault = faultOf(text)
    expect([fault.name, fault.code]).toEqual(['InvalidInput', 'bad_settings'])
    expect(fault.issues[0]).toMatchObject({ file: 'sluice.yaml', line, column })
    expect(fault.message).toMatch(words)
    expect(fault.message).toContain(`sluice.yaml:${line}:${column}`)
  })

  it('lists all mistakes at once', () => {
    expect(faultOf('port: x\nversion: 3\nnope: 1\n').issues.map(({ line }) => line)).toEqual([2, 1, 3])
  })

  it('tells mistakes of agents together with those of shape', () => {
    const text = [
      'providers:',
      '  big: { type: openai-compatible, url: "https://x.example/v1", models: [g-1] }',
      '  own: { type: olama, url: "http://127.0.0.1:1" }',
      'agents:',
      '  ana: { role: worker, provider: bug, model: m }',
      '  ben: { role: worker, provider: big, model: g1, capabilites: [a] }',
    ].join('\n')
    const told = faultOf(text).issues.map(({ line, path, message, hint = '' }) => `${line} ${path} ${message} ${hint}`)
    expect(told).toEqual([
      expect.stringMatching(/^3 providers\.own\.type .*Did you mean "ollama"/),
      expect.stringMatching(/^6 agents\.ben\.capabilites .*did you mean "capabilities"/),
      expect.stringMatching(/^5 agents\.ana\.provider .*Did you mean "big"/),
      expect.stringMatching(/^6 agents\.ben\.model .*Did you mean "g-1"/),
    ])
  })

  it.each([
    ['a url that is missing', '{ type: ollama }', /url: is missing/],
    ['another protocol', '{ type: http, url: "file:///etc/passwd" }', /an http or https URL/],
    ['a url beside local', '{ type: local, url: "http://x" }', /Unknown key "url" \(allowed: type, models\)/],
    ['a key that is no reference', '{ type: http, url: "http://x", key: {} }', /give env: NAME, or secret: ARN/],
    ['half an ARN', `{ type: http, url: "http://x", key: { secret: "${ARN.slice(0, -7)}" } }`, /the whole ARN/],
    ['a wildcard', `{ type: http, url: "http://x", key: { secret: "${ARN.slice(0, -6)}*" } }`, /the whole ARN/],
    ['a type that is nearly one', '{ type: bedrok }', /"bedrock", "replay"\. Did you mean "bedrock"/],
    ['a key beside bedrock', '{ type: bedrock, key: { env: K } }', /Unknown key "key".*allowed: type, region/],
    [
      'a region that is none',
      '{ type: bedrock, region: europe }',
      /region: a region such as eu-central-1.*seen: "europe"/,
    ],
    [
      'a wildcard for a model',
      '{ type: bedrock, models: ["anthropic.*"] }',
      /models\.0: a model id, an inference profile/,
    ],
    ['no recording', '{ type: replay }', /record: is missing: give a file or objstore/],
    [
      'a breaker that never closes',
      '{ type: http, url: "http://x", breaker: { open_ms: 0 } }',
      /breaker\.open_ms: .*seen: 0/,
    ],
    ['a breaker misspelt', '{ type: http, url: "http://x", breaker: { failure: 3 } }', /did you mean "failures"/],
    ['no place at all', '{ type: bedrock, max_concurrency: 0 }', /max_concurrency: .*seen: 0/],
    ['silence where nothing is streamed', '{ type: http, url: "http://x", idle_ms: 500 }', /Unknown key "idle_ms"/],
    ['a time-out of no length', '{ type: http, url: "http://x", timeout_ms: 0 }', /timeout_ms: .*seen: 0/],
  ])('refuses a provider with %s', (_name, provider, words) => {
    expect(faultOf(`providers:\n  p: ${provider}\n`).message).toMatch(words)
  })

  it.each([
    'key: sk-canary-1',
    'key: { env: "sk-canary 1" }',
    'key: { secret: sk-canary-1 }',
    'api_key: sk-canary-1',
    'url: "http://u:sk-canary-1@x"',
  ])('does not repeat a key that was written into the file: %s', (member) => {
    const { message, issues } = faultOf(`providers:\n  p: { type: http, ${member} }\n`)
    expect(message + JSON.stringify(issues)).not.toContain('canary')
  })

  it('takes every type, and a key for both places', () => {
    const key = { env: 'OPENAI_API_KEY', secret: ARN }
    const providers = {
      here: { type: 'local' },
      own: { type: 'ollama', url: 'http://127.0.0.1:11434', timeout_ms: 600_000 },
      big: { type: 'openai-compatible', url: 'https://x.example/v1?api-version=1', key, models: ['g-1'] },
      mine: { type: 'http', url: 'https://x.example/answer', key: { env: 'MINE' }, max_concurrency: 4 },
      claw: { type: 'openclaw', url: 'http://127.0.0.1:18789', key: { env: 'CLAW' }, idle_ms: 30_000 },
      aws: {
        type: 'bedrock',
        region: 'eu-central-1',
        models: ['amazon.nova-lite-v1:0', 'eu.anthropic.claude-sonnet-4-20250514-v1:0'],
        breaker: { failures: 3, open_ms: 10_000 },
      },
      old: { type: 'replay', record: 'recordings/r.json' },
    }
    expect(parseSettings(JSON.stringify({ providers }), 'sluice.yaml').providers).toEqual(providers)
  })
})
