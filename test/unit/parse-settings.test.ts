import { describe, expect, it } from 'vitest'
import { Fault } from '../../shared/errors.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import { SettingsSchema } from '../../shared/settings.ts'

function faultOf(text: string): Fault {
  try {
    parseSettings(text, 'sluice.yaml')
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('accepted')
}

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
      /allowed: "local" .*seen: "nope"/,
    ],
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
})
