import * as z from 'zod'
import { AWS_QUOTAS } from '../../shared/aws-quotas.ts'
import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'

/** Where functions are, and by which ways the API is reached: what of the CDK context says so, and what cannot stand together. */

/** Services that functions call; each is reached by a VPC endpoint where subnets lead nowhere else. */
const ENDPOINTS = {
  dynamodb: 'Gateway',
  s3: 'Gateway',
  states: 'Interface',
  lambda: 'Interface',
  secretsmanager: 'Interface',
  ssm: 'Interface',
  events: 'Interface',
  'bedrock-runtime': 'Interface',
} as const
type EndpointName = keyof typeof ENDPOINTS

const NAMES = Object.keys(ENDPOINTS)
const MOST_SUBNETS = AWS_QUOTAS.function_subnets.most
const MOST_GROUPS = AWS_QUOTAS.function_security_groups.most
const SUBNETS = `subnets: 1 to ${MOST_SUBNETS} ids such as subnet-0123456789abcdef0`
const GROUPS = `security_groups: 1 to ${MOST_GROUPS} ids such as sg-0123456789abcdef0`
const REACHED = `endpoints: a list of ${NAMES.join(', ')}`
const NETWORK = `an object of ${SUBNETS}; ${GROUPS}; ${REACHED}; internet: true or false`

export const NetworkSchema = z.strictObject(
  {
    subnets: z
      .array(z.string(SUBNETS).regex(/^subnet-([0-9a-f]{8}|[0-9a-f]{17})$/, SUBNETS), SUBNETS)
      .min(1, SUBNETS)
      .max(MOST_SUBNETS, SUBNETS),
    security_groups: z
      .array(z.string(GROUPS).regex(/^sg-([0-9a-f]{8}|[0-9a-f]{17})$/, GROUPS), GROUPS)
      .min(1, GROUPS)
      .max(MOST_GROUPS, GROUPS),
    /** Services that these subnets reach by endpoints of their VPC. */
    endpoints: z.array(z.enum(NAMES, REACHED), REACHED).default([]),
    /** Whether these subnets lead to the internet, through a NAT gateway or a firewall. */
    internet: z.boolean('internet: true or false').default(false),
  },
  NETWORK,
)
export type Network = z.output<typeof NetworkSchema>

const PRIVATE = 'an object of vpc_endpoints: 1 to 20 ids of endpoints for execute-api, such as vpce-0123456789abcdef0'
export const PrivateApiSchema = z.strictObject(
  {
    vpc_endpoints: z
      .array(z.string(PRIVATE).regex(/^vpce-([0-9a-f]{8}|[0-9a-f]{17})$/, PRIVATE), PRIVATE)
      .min(1, PRIVATE)
      .max(20, PRIVATE),
  },
  PRIVATE,
)

const DOMAIN =
  'an object of name: a host such as sluice.example.com, and certificate: the whole ARN of a certificate of Certificate Manager in the region of the stage'
export const DomainSchema = z.strictObject(
  {
    name: z
      .string(DOMAIN)
      .max(253, DOMAIN)
      .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, DOMAIN),
    certificate: z.string(DOMAIN).regex(/^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[a-zA-Z0-9-]+$/, DOMAIN),
  },
  DOMAIN,
)

const MUTUAL =
  'an object of truststore: s3://BUCKET/KEY of the certificates of who may sign callers, and version: that of the object, where its bucket has versions'
export const MutualTlsSchema = z.strictObject(
  {
    truststore: z.string(MUTUAL).regex(/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/[\w!.*'()/-]{1,1024}$/, MUTUAL),
    version: z.string(MUTUAL).min(1, MUTUAL).max(64, MUTUAL).optional(),
  },
  MUTUAL,
)

const { api_rate, api_burst } = AWS_QUOTAS
const THROTTLE = `an object of rate: 1 to ${api_rate.most} requests a second, and burst: 1 to ${api_burst.most} at once; an account has no more`
export const ThrottleSchema = z
  .strictObject(
    {
      rate: z.int(THROTTLE).min(1, THROTTLE).max(api_rate.most, THROTTLE).default(50),
      burst: z.int(THROTTLE).min(1, THROTTLE).max(api_burst.most, THROTTLE).default(100),
    },
    THROTTLE,
  )
  .prefault({})

/** How the API is reached. */
export interface ApiDoor {
  readonly private_api?: z.output<typeof PrivateApiSchema> | undefined
  readonly domain?: z.output<typeof DomainSchema> | undefined
  readonly mutual_tls?: z.output<typeof MutualTlsSchema> | undefined
  /** The address that API Gateway gives to every API. */
  readonly default_endpoint: 'on' | 'off'
  readonly throttle: z.output<typeof ThrottleSchema>
}

/** What is wrong between keys that are good by themselves: each as key, what is seen, why not, and what to do. */
export function doorConflicts({ private_api, domain, mutual_tls, default_endpoint }: ApiDoor): readonly string[] {
  const isPrivate = private_api !== undefined
  const rules: readonly (readonly [boolean, string])[] = [
    [
      mutual_tls !== undefined && domain === undefined,
      '"sluice:mutual_tls" is set and "sluice:domain" is not: API Gateway asks callers for certificates on a custom domain alone. Set sluice:domain, or take sluice:mutual_tls out',
    ],
    [
      mutual_tls !== undefined && default_endpoint === 'on',
      '"sluice:mutual_tls" is set and "sluice:default_endpoint" is on: whoever calls the address of API Gateway would be asked for no certificate. Set sluice:default_endpoint to off',
    ],
    [
      default_endpoint === 'off' && domain === undefined && !isPrivate,
      '"sluice:default_endpoint" is off and "sluice:domain" is not set: nobody could reach the API. Set sluice:domain, or leave the default endpoint on',
    ],
    [
      isPrivate && domain !== undefined,
      '"sluice:private_api" and "sluice:domain" are both set: a domain of a private API is made and shared for each VPC endpoint, which a stage does not do; its certificate here is that of a public, regional one. Take one of them out',
    ],
    [
      isPrivate && default_endpoint === 'off',
      '"sluice:private_api" is set and "sluice:default_endpoint" is off: VPC endpoints lead to that very address. Leave it on: nobody reaches it from outside',
    ],
  ]
  return rules.flatMap(([isSo, words]) => (isSo ? [words] : []))
}

/** Which services functions of these settings call. */
export function neededEndpoints(settings: Settings): readonly EndpointName[] {
  const keepers = new Set(secretsIn(settings).map((arn) => arn.split(':')[2]))
  const asksBedrock = Object.values(settings.providers).some(({ type }) => type === 'bedrock')
  return [
    ...(['dynamodb', 's3', 'states', 'lambda'] as const),
    ...(['secretsmanager', 'ssm'] as const).filter((keeper) => keepers.has(keeper)),
    ...(settings.buses.length > 0 ? (['events'] as const) : []),
    ...(asksBedrock ? (['bedrock-runtime'] as const) : []),
  ]
}

/** Every ARN under a key `secret`, wherever it stands. */
function secretsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(secretsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) =>
    key === 'secret' && typeof one === 'string' ? [one] : secretsIn(one),
  )
}

/** Providers that need nobody outside. */
const INSIDE: ReadonlySet<string> = new Set(['bedrock', 'replay'])

/** What the settings have functions ask on the internet, by where it stands. */
function askedOutside(settings: Settings): readonly string[] {
  const { providers, services, mcp_servers, webhooks, slack, telemetry, research } = settings
  return [
    ...Object.entries(providers).flatMap(([name, { type }]) => (INSIDE.has(type) ? [] : [`providers.${name}`])),
    ...Object.keys(services).map((name) => `services.${name}`),
    ...Object.keys(mcp_servers).map((name) => `mcp_servers.${name}`),
    ...webhooks.map((_, i) => `webhooks.${i}`),
    ...(slack === undefined ? [] : ['slack']),
    ...(telemetry === undefined ? [] : ['telemetry']),
    ...(research.webhook === undefined ? [] : ['research.webhook']),
  ]
}

/**
 * What functions of these settings would not reach from the network they are put into, and who could not reach the API. Fault
 * InvalidInput bad_settings names each, and what to do. It believes what the network says of itself: docs/deploy.md has the
 * command that asks AWS.
 */
export function requireReachable(
  settings: Settings,
  { network, private_api }: { readonly network?: Network | undefined; readonly private_api?: unknown },
): void {
  const issues = [
    ...(network === undefined || network.internet ? [] : unreached(settings, network)),
    ...(private_api !== undefined && settings.slack !== undefined
      ? ['"sluice:private_api" is set and the settings name slack: Slack calls from the internet. Take one of them out']
      : []),
  ]
  if (issues.length > 0) throw new Fault('InvalidInput', 'bad_settings', `cdk.json: context ${issues.join('. ')}.`)
}

function unreached(settings: Settings, { endpoints }: Network): readonly string[] {
  const missing = neededEndpoints(settings).filter((name) => !endpoints.includes(name))
  const named = missing.map((name) => `${name} (${ENDPOINTS[name]}, com.amazonaws.REGION.${name})`).join(', ')
  // A proxy that these subnets reach is a way out.
  const outside = settings.egress.proxy === undefined ? askedOutside(settings) : []
  return [
    ...(missing.length === 0
      ? []
      : [
          `"sluice:network" leads to no internet and lacks VPC endpoints: ${named}. Make them in its VPC and name them under endpoints, or say internet: true where the subnets have a way out`,
        ]),
    ...(outside.length === 0
      ? []
      : [
          `"sluice:network" leads to no internet, and the settings have functions ask ${outside.join(', ')}. Take them out, give the subnets a way out and say internet: true, or name a proxy they reach in egress.proxy`,
        ]),
  ]
}
