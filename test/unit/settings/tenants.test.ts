import { describe, expect, test } from 'vitest'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { withCdkContextTenants } from '../../../infra/aws/stage-settings.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'

const HOOK = '{ name: a, url: "https://a.example/", events: all, key: { env: A }, tenant: acme }'
const SLACK = 'slack: { team_id: T012AB, channel: C012AB, token: { env: A }, signing_secret: { env: B }, tenant: acme }'
const parse = (text: string) => parseSettings(text, 'sluice.yaml')

describe('tenants in sluice.yaml', () => {
  test('are main alone without the setting, and as listed with it', () => {
    expect(parse('').tenants).toEqual(['main'])
    expect(parse('tenants: [main, acme, a-1]').tenants).toEqual(['main', 'acme', 'a-1'])
  })

  test.each([
    ['[]', 'a list of 1 to 10 names, such as [main, acme]'],
    ['main', 'a list of 1 to 10 names'],
    ['[acme]', 'main among them: it is whose everything else is'],
    ['[main, main]', 'each name once'],
    ['[main, Acme]', 'tenants.1: a small letter, then small letters, digits and dashes, 32 at most'],
    ['[main, "a#b"]', 'tenants.1: a small letter'],
    ['[main, "a/b"]', 'tenants.1: a small letter'],
    [`[main, ${'a'.repeat(33)}]`, 'tenants.1: a small letter'],
    [`[main, ${Array.from({ length: 10 }, (_, i) => `t${i}`)}]`, 'a list of 1 to 10 names'],
    ['[main, 1]', 'tenants.1: a small letter'],
  ])('%s is refused by name', (list, words) => {
    expect(() => parse(`tenants: ${list}`)).toThrow(words)
  })

  test.each([
    ['slack.tenant', SLACK],
    ['webhooks.0.tenant', `webhooks: [${HOOK}]`],
    ['spending.0.tenant', 'spending: [{ name: theirs, per: day, usd: 5, tenant: acme }]'],
  ])('%s is one of them', (path, text) => {
    expect(() => parse(text)).toThrow(
      `${path}: "acme" is not in the list of tenants; allowed: "main", or add it to that list (seen: "acme")`,
    )
    expect(() => parse(`tenants: [main, acmes]\n${text}`)).toThrow('Did you mean "acmes"?')
    expect(parse(`tenants: [main, acme]\n${text}`).tenants).toEqual(['main', 'acme'])
  })

  test('who is signed by IAM is put into one by a deployment alone', () => {
    expect(() => parse('iam_tenants: { Ana: main }')).toThrow('iam_tenants')
  })
})

describe('tenants of a deployment', () => {
  const told = (given: Readonly<Record<string, unknown>>) =>
    readDeploySettings((key) => ({ 'sluice:stage': 'dev', 'sluice:auth': 'iam', ...given })[key])
  const deployed = (given: Readonly<Record<string, unknown>>, text = '') =>
    withCdkContextTenants(parse(text), told(given))

  test('are those of the file, or of the context over them, as names or as a list', () => {
    expect(deployed({}).tenants).toEqual(['main'])
    expect(deployed({}, 'tenants: [main, acme]').tenants).toEqual(['main', 'acme'])
    for (const given of ['main, globex', '["main","globex"]', ['main', 'globex']]) {
      expect(deployed({ 'sluice:tenants': given }, 'tenants: [main, acme]').tenants).toEqual(['main', 'globex'])
    }
  })

  test.each([
    ['', /"sluice:tenants" is ""; allowed: .*small letter/],
    ['acme', /"sluice:tenants" is "acme"; allowed: main among them/],
    ['main,Acme', /"sluice:tenants" is "main,Acme"; allowed: a small letter/],
    [{ main: true }, /"sluice:tenants" is .*; allowed: a list of 1 to 10 names/],
  ])('%j is refused by name', (given, words) => {
    expect(() => told({ 'sluice:tenants': given })).toThrow(words)
  })

  test('an IAM principal is of the one that sluice:auth gives it, if there is such a one', () => {
    const auth = { mode: 'iam', tenants: { AcmeRunner: 'acme', 'user/bo': 'main', '999999999999/Runner': 'acme' } }
    const given = { 'sluice:auth': JSON.stringify(auth), 'sluice:tenants': 'main,acme' }
    expect(deployed(given).iam_tenants).toEqual(auth.tenants)
    expect(() => deployed({ 'sluice:auth': auth })).toThrow(
      /"sluice:tenants" does not fit .*auth\.tenants\.AcmeRunner: "acme" is not in the list of tenants; allowed: "main".*-c sluice:tenants=/,
    )
    expect(() => told({ 'sluice:auth': { mode: 'iam', tenants: { 'a b': 'main' } } })).toThrow('"sluice:auth" is')
    expect(() => told({ 'sluice:auth': { mode: 'token', tenants: {} } })).toThrow('"sluice:auth" is')
  })

  test('a workspace or a webhook of a tenant that is not deployed is refused', () => {
    const text = `tenants: [main, acme]\nwebhooks: [${HOOK}]`
    expect(() => deployed({ 'sluice:tenants': 'main,globex' }, text)).toThrow(/webhooks\.0\.tenant: "acme" is not in/)
  })
})
