import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { measureTemplate } from '../../../infra/aws/measure-quotas.ts'
import { neededEndpoints, requireReachable } from '../../../infra/aws/network-settings.ts'
import { readStageSettings, withCdkContext } from '../../../infra/aws/stage-settings.ts'
import { AWS_QUOTAS } from '../../../shared/aws-quotas.ts'
import { type Settings, SettingsSchema } from '../../../shared/settings/settings.ts'
import { WHOLE } from '../../how-much.ts'
import { assembled } from './assembled.ts'
import { type Assembly, ROOT, stacksIn, textOf } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'
import { cdkContext, type Synthesized, synthesize } from './synthesized.ts'
import { webhookSettings } from './webhook-settings.ts'

/** Stages in a network of the operator's, behind a private address, and behind a domain with mutual TLS. */
const SUBNETS = ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1']
const GROUPS = ['sg-0123456789abcdef0']
const NETWORK = { subnets: SUBNETS, security_groups: GROUPS, endpoints: ['dynamodb', 's3', 'states', 'lambda'] }
const PRIVATE = { vpc_endpoints: ['vpce-0123456789abcdef0', 'vpce-0123456789abcdef1'] }
const CERTIFICATE = 'arn:aws:acm:eu-central-1:111122223333:certificate/11111111-2222-3333-4444-555555555555'
const DOMAIN = { name: 'sluice.example.com', certificate: CERTIFICATE }
const MUTUAL = { truststore: 's3://certificates/sluice/truststore.pem', version: 'abc' }

let inside: Synthesized
let behindDomain: Synthesized
let plain: Assembly
beforeAll(async () => {
  plain = await assembled()
  const network = JSON.stringify(NETWORK)
  inside = await synthesize({ 'sluice:network': network, 'sluice:private_api': PRIVATE }, undefined, 'placeholders')
  behindDomain = await synthesize(
    {
      'sluice:domain': DOMAIN,
      'sluice:mutual_tls': JSON.stringify(MUTUAL),
      'sluice:default_endpoint': 'off',
      'sluice:throttle': { rate: 15, burst: 30 },
    },
    undefined,
    'placeholders',
  )
}, 400_000)
afterAll(() => {
  inside?.remove()
  behindDomain?.remove()
})

interface Policy {
  readonly PolicyName: string
  readonly PolicyDocument: unknown
}

interface Statement {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Principal?: { readonly AWS: unknown }
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

function statementsOf(policy: unknown): readonly Statement[] {
  return (policy as { readonly Statement: readonly Statement[] } | undefined)?.Statement ?? []
}

const properties = (made: Assembly, type: string) => made.all(type).map(({ Properties }) => Properties)

describe('sluice:network', () => {
  test('puts every function into the subnets, and without it none is in any', () => {
    const all = properties(inside, 'AWS::Lambda::Function')
    expect(all.length).toBe(properties(plain, 'AWS::Lambda::Function').length)
    for (const { VpcConfig } of all) expect(VpcConfig).toEqual({ SubnetIds: SUBNETS, SecurityGroupIds: GROUPS })
    expect(properties(plain, 'AWS::Lambda::Function').filter(({ VpcConfig }) => VpcConfig !== undefined)).toEqual([])
  })

  test('each role may join it, for Lambda and not for the code of its function', () => {
    const functions = inside.all('AWS::Lambda::Function')
    for (const { Properties } of functions) {
      const [role = ''] = (Properties.Role as { readonly 'Fn::GetAtt': readonly string[] })['Fn::GetAtt']
      const found = inside.all('AWS::IAM::Role').find(({ id }) => id === role)
      const policies = (found?.Properties.Policies ?? []) as readonly Policy[]
      const named = policies.find(({ PolicyName }) => PolicyName === 'network')
      const [allow, deny] = statementsOf(named?.PolicyDocument)
      expect(allow).toMatchObject({ Effect: 'Allow', Action: expect.arrayContaining(['ec2:CreateNetworkInterface']) })
      expect(deny).toMatchObject({ Effect: 'Deny', Action: allow?.Action })
      expect(textOf(deny?.Condition?.ArnEquals?.['lambda:SourceFunctionArn'])).toBe(
        `arn:<Partition>:lambda:<Region>:<AccountId>:function:${Properties.FunctionName}`,
      )
    }
  })
})

describe('sluice:private_api', () => {
  test('is reached by its VPC endpoints alone, and signatures are still asked for', () => {
    const [api] = properties(inside, 'AWS::ApiGateway::RestApi')
    expect(api?.EndpointConfiguration).toEqual({ Types: ['PRIVATE'], VpcEndpointIds: PRIVATE.vpc_endpoints })
    const statements = statementsOf(api?.Policy)
    const [deny, account, open, ...more] = statements
    expect(more).toEqual([])
    expect(deny).toMatchObject({
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Resource: 'execute-api:/*',
      Condition: { StringNotEquals: { 'aws:SourceVpce': PRIVATE.vpc_endpoints } },
    })
    // The account, whose identity policies decide; nobody by name, and everybody only where a function checks what comes.
    expect(textOf(account?.Principal?.AWS)).toBe('arn:<Partition>:iam::<AccountId>:root')
    expect(open).toMatchObject({ Principal: { AWS: '*' }, Resource: 'execute-api:/*/POST/api/callbacks/*' })
    const methods = properties(inside, 'AWS::ApiGateway::Method')
    expect(methods.filter(({ AuthorizationType }) => AuthorizationType === 'NONE')).toHaveLength(1)
  })

  test('with bearer credentials the authorizer says who', { timeout: 240_000 }, async () => {
    const made = await assembled({ 'sluice:auth': 'token', 'sluice:private_api': PRIVATE })
    const [api] = properties(made, 'AWS::ApiGateway::RestApi')
    const statements = statementsOf(api?.Policy)
    expect(statements.map(({ Effect }) => Effect)).toEqual(['Deny', 'Allow'])
    const methods = properties(made, 'AWS::ApiGateway::Method')
    expect(methods.filter(({ AuthorizationType }) => AuthorizationType === 'CUSTOM').length).toBe(methods.length - 1)
  })
})

describe('sluice:domain', () => {
  test('stands before the stage with its certificate and truststore; the address of API Gateway is off', () => {
    const [domain] = properties(behindDomain, 'AWS::ApiGateway::DomainName')
    expect(domain).toMatchObject({
      DomainName: 'sluice.example.com',
      RegionalCertificateArn: CERTIFICATE,
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'TLS_1_2',
      MutualTlsAuthentication: { TruststoreUri: MUTUAL.truststore, TruststoreVersion: 'abc' },
    })
    expect(properties(behindDomain, 'AWS::ApiGateway::BasePathMapping')).toHaveLength(1)
    expect(properties(behindDomain, 'AWS::ApiGateway::RestApi')[0]?.DisableExecuteApiEndpoint).toBe(true)
    const { Outputs, Rules } = JSON.parse(readFileSync(join(behindDomain.out, 'SluiceApi.template.json'), 'utf8')) as {
      readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>
      readonly Rules: unknown
    }
    expect(Outputs.Url?.Value).toBe('https://sluice.example.com/')
    expect(Object.keys(Outputs)).toEqual(expect.arrayContaining(['DomainTarget', 'DomainZone']))
    // Where it is deployed to is not known here: CloudFormation refuses a certificate of another region.
    expect(JSON.stringify(Rules)).toContain('{"Fn::Equals":[{"Ref":"AWS::Region"},"eu-central-1"]}')
  })

  test('its name is nothing that gates of this stage may ask', () => {
    const settings = withCdkContext(
      readStageSettings(ROOT, { stage: 'dev' }),
      deploySettings({ 'sluice:domain': DOMAIN }),
    )
    expect(settings.http_gates.deny_hosts).toContain('sluice.example.com')
  })
})

test('sluice:throttle is that of the stage, and no route has more', () => {
  const settings = (made: Assembly) =>
    (properties(made, 'AWS::ApiGateway::Stage')[0]?.MethodSettings ?? []) as readonly Readonly<
      Record<string, unknown>
    >[]
  const throttles = (made: Assembly) =>
    settings(made).map((one) => [one.ResourcePath, one.ThrottlingRateLimit, one.ThrottlingBurstLimit])
  expect(throttles(behindDomain)).toEqual([
    ['/*', 15, 30],
    ['/~1api~1callbacks~1{token}', 15, 30],
  ])
  expect(throttles(plain)).toEqual([
    ['/*', 50, 100],
    ['/~1api~1callbacks~1{token}', 20, 40],
  ])
})

test('every template is within the quotas and clean under cdk-nag', () => {
  for (const made of [inside, behindDomain]) {
    const sizes = stacksIn(made.out).flatMap((stack) => measureTemplate(stack, { ...made.whole(stack) }))
    expect(sizes.filter(({ quota, size }) => size > AWS_QUOTAS[quota].most)).toEqual([])
    for (const pack of [new AwsSolutionsChecks(made.app), new ServerlessChecks(made.app)]) {
      expect(pack.validateScope(made.app).violations).toEqual([])
    }
  }
}, 400_000)

test('the linter of templates has no word about them', (context) => {
  if (!WHOLE) return context.skip('the linter is asked in npm run test:all')
  if (spawnSync('cfn-lint', ['--version']).status !== 0) return context.skip('cfn-lint is not on PATH')
  for (const made of [inside, behindDomain]) {
    const file = join(made.out, 'SluiceApi.template.json')
    const linted = spawnSync('cfn-lint', ['--ignore-checks', 'W3005', '--', file], { encoding: 'utf8' })
    expect(linted.stdout + linted.stderr).toBe('')
  }
}, 400_000)

function deploySettings(given: Readonly<Record<string, unknown>>) {
  return readDeploySettings((key) => ({ ...cdkContext(), ...given })[key])
}

describe('what cannot be', () => {
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    [
      'mutual TLS without a domain',
      { 'sluice:mutual_tls': MUTUAL, 'sluice:default_endpoint': 'off' },
      /"sluice:mutual_tls" is set and "sluice:domain" is not: .* custom domain alone\. Set sluice:domain/,
    ],
    [
      'mutual TLS beside the default endpoint',
      { 'sluice:mutual_tls': MUTUAL, 'sluice:domain': DOMAIN },
      /"sluice:default_endpoint" is on: .*asked for no certificate\. Set sluice:default_endpoint to off/,
    ],
    [
      'no endpoint at all',
      { 'sluice:default_endpoint': 'off' },
      /"sluice:default_endpoint" is off and "sluice:domain" is not set: nobody could reach/,
    ],
    [
      'a private API with a regional domain',
      { 'sluice:private_api': PRIVATE, 'sluice:domain': DOMAIN },
      /"sluice:private_api" and "sluice:domain" are both set: .*certificate here is that of a public, regional one/,
    ],
    [
      'a private API without its address',
      { 'sluice:private_api': PRIVATE, 'sluice:default_endpoint': 'off' },
      /VPC endpoints lead to that very address/,
    ],
  ])('%s is refused, with why and what to do', (_what, given, words) => {
    expect(() => deploySettings(given)).toThrow(words)
  })

  test.each<[string, string, unknown, RegExp]>([
    [
      'a subnet by name',
      'network',
      { ...NETWORK, subnets: ['private-a'] },
      /"sluice:network" is .*private-a.*; allowed: subnets: 1 to 16 ids such as subnet-/,
    ],
    ['no security group', 'network', { ...NETWORK, security_groups: [] }, /allowed: security_groups: 1 to 5 ids/],
    [
      'six security groups',
      'network',
      { ...NETWORK, security_groups: Array(6).fill(GROUPS[0]) },
      /allowed: security_groups: 1 to 5/,
    ],
    [
      'an endpoint nobody calls',
      'network',
      { ...NETWORK, endpoints: ['ec2'] },
      /allowed: endpoints: a list of dynamodb, s3/,
    ],
    [
      'a key of none',
      'network',
      { ...NETWORK, vpc: 'vpc-1' },
      /allowed: an object of subnets: .*; security_groups: .*; endpoints: .*; internet/,
    ],
    [
      'a VPC for its endpoint',
      'private_api',
      { vpc_endpoints: ['vpc-0123456789abcdef0'] },
      /allowed: an object of vpc_endpoints: 1 to 20 ids/,
    ],
    [
      'a domain with a scheme',
      'domain',
      { ...DOMAIN, name: 'https://sluice.example.com' },
      /allowed: an object of name: a host such as/,
    ],
    [
      'a certificate of IAM',
      'domain',
      { ...DOMAIN, certificate: 'arn:aws:iam::111122223333:server-certificate/x' },
      /the whole ARN of a certificate of Certificate Manager/,
    ],
    [
      'a truststore over https',
      'mutual_tls',
      { truststore: 'https://x/y.pem' },
      /allowed: an object of truststore: s3:\/\/BUCKET\/KEY/,
    ],
    ['a word for the endpoint', 'default_endpoint', 'no', /"sluice:default_endpoint" is "no"; allowed: on or off/],
    [
      'more than an account has',
      'throttle',
      { rate: 20_000 },
      /"sluice:throttle" is \{"rate":20000\}; allowed: an object of rate: 1 to 10000/,
    ],
  ])('%s is refused by name, with what is allowed', (_what, key, value, words) => {
    expect(() => deploySettings({ [`sluice:${key}`]: value })).toThrow(words)
  })

  const read = (more: object): Settings => SettingsSchema.parse({ ...more })
  const secret = 'arn:aws:ssm:eu-central-1:111122223333:parameter/x'
  const asking = () => read({ providers: { a: { type: 'openai', url: 'https://a.example/v1', key: { secret } } } })

  test('services that functions call and the network does not lead to are named', () => {
    expect(neededEndpoints(read({}))).toEqual(['dynamodb', 's3', 'states', 'lambda'])
    const settings = read({
      providers: { b: { type: 'bedrock', models: ['amazon.nova-lite-v1:0'] } },
      buses: [{ name: 'company', events: 'all' }],
    })
    expect(neededEndpoints(settings)).toEqual(['dynamodb', 's3', 'states', 'lambda', 'events', 'bedrock-runtime'])
    expect(neededEndpoints(asking())).toContain('ssm')
    const network = { ...NETWORK, internet: false, endpoints: ['s3', 'states', 'lambda'] }
    expect(() => requireReachable(settings, { network })).toThrow(
      /lacks VPC endpoints: dynamodb \(Gateway, com\.amazonaws\.REGION\.dynamodb\), events \(Interface, .*\), bedrock-runtime \(Interface/,
    )
    expect(() => requireReachable(settings, { network: { ...network, internet: true } })).not.toThrow()
  })

  test('so is what they ask on the internet, where there is no way out', () => {
    const network = { ...NETWORK, internet: false, endpoints: [...NETWORK.endpoints, 'ssm', 'secretsmanager'] }
    expect(() => requireReachable(asking(), { network })).toThrow(/functions ask providers\.a\. Take them out/)
    const told = { ...read({}), webhooks: [webhookSettings()] }
    expect(() => requireReachable(told, { network })).toThrow(/functions ask webhooks\.0/)
    // A proxy they reach is a way out.
    const byProxy = { ...told, egress: { ...told.egress, proxy: 'http://proxy.example:3128' } }
    expect(() => requireReachable(byProxy, { network })).not.toThrow()
  })

  test('Slack reaches no private API', () => {
    expect(() => requireReachable(slackSettings(), { private_api: PRIVATE })).toThrow(/Slack calls from the internet/)
  })

  test('a certificate of another region is refused where the region is known', { timeout: 240_000 }, async () => {
    const { App, Stack } = await import('aws-cdk-lib')
    const { RestApi } = await import('aws-cdk-lib/aws-apigateway')
    const { CustomDomain } = await import('../../../infra/aws/network.ts')
    const stack = new Stack(new App(), 'Api', { env: { account: '111122223333', region: 'us-east-1' } })
    const api = new RestApi(stack, 'Rest')
    api.root.addMethod('GET')
    expect(() => new CustomDomain(stack, 'Domain', { api, domain: DOMAIN, mutual_tls: undefined })).toThrow(
      /certificate of sluice:domain is of eu-central-1, .*the stage is in us-east-1/,
    )
  })
})
