import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNT, REGION } from '../emulators/aws-client.ts'

/** A resource of a synthesized template with its intrinsic functions resolved, as CloudFormation would create it. */
export interface Deployed {
  readonly id: string
  readonly type: string
  // Properties are data of any shape; who reads one names it.
  readonly properties: Readonly<Record<string, unknown>>
}

export interface DeployedTemplates {
  all(type: string): readonly Deployed[]
  /** The file or folder of an asset, by the key it would have in the bucket of assets. */
  asset(key: string): string
}

interface Raw {
  readonly Type: string
  readonly Properties?: Readonly<Record<string, unknown>>
}

/**
 * Reads the templates of a cloud assembly and resolves `Ref`, `Fn::GetAtt`, `Fn::Sub` and `Fn::Join` with one account
 * and region and names as CloudFormation makes them. Another intrinsic, or an attribute nobody expected, is an error:
 * the templates are then no longer what this loader understands.
 */
export function readTemplates(out: string, stacks: readonly string[]): DeployedTemplates {
  const resources = stacks.flatMap((stack) => readStack(join(out, `${stack}.template.json`)))
  return {
    all: (type) => resources.filter((resource) => resource.type === type),
    asset: (key) => join(out, `asset.${key.replace(/\.zip$/, '')}`),
  }
}

function readStack(file: string): Deployed[] {
  const raw: Readonly<Record<string, Raw>> = JSON.parse(readFileSync(file, 'utf8')).Resources
  return Object.entries(raw).map(([id, { Type, Properties = {} }]) => {
    // An object resolves to an object unless it is an intrinsic, and Properties never is.
    const properties = resolve(raw, Properties) as Readonly<Record<string, unknown>>
    return { id, type: Type, properties }
  })
}

type Stack = Readonly<Record<string, Raw>>

function resolve(stack: Stack, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => resolve(stack, item))
  const entries = Object.entries(value)
  const [kind, of] = entries.length === 1 ? (entries[0] ?? []) : []
  if (kind === 'Ref') return refOf(stack, String(of))
  if (kind?.startsWith('Fn::')) return intrinsic(stack, kind, of)
  return Object.fromEntries(entries.map(([key, item]) => [key, resolve(stack, item)]))
}

function intrinsic(stack: Stack, kind: string, of: unknown): string {
  if (kind === 'Fn::GetAtt') return attributeOf(stack, ...(of as readonly [string, string]))
  if (kind === 'Fn::Sub') return String(of).replaceAll(/\$\{([\w:]+)\}/g, (_, name: string) => refOf(stack, name))
  if (kind === 'Fn::Join') {
    const [by, parts] = of as readonly [string, readonly unknown[]]
    return parts.map((part) => String(resolve(stack, part))).join(by)
  }
  if (kind === 'Fn::Select') {
    const [at, from] = of as readonly [number, { readonly 'Fn::Split': readonly [string, unknown] }]
    const [by, text] = from['Fn::Split']
    return String(resolve(stack, text)).split(by)[at] ?? ''
  }
  throw new Error(`the template uses ${kind}, which this loader does not know`)
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Region': REGION,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
}

/** What a physical name is a property of, where it is given; else CloudFormation makes one of the logical id. */
const NAMES: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'TableName',
  'AWS::S3::Bucket': 'BucketName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::IAM::Role': 'RoleName',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::SQS::Queue': 'QueueName',
}

function refOf(stack: Stack, id: string): string {
  const pseudo = PSEUDO[id]
  if (pseudo !== undefined) return pseudo
  const { Type } = resourceOf(stack, id)
  if (Type === 'AWS::StepFunctions::StateMachine') return arnOf(stack, id)
  // The first version that is published.
  if (Type === 'AWS::StepFunctions::StateMachineVersion') return `${property(stack, id, 'StateMachineArn')}:1`
  return nameOf(stack, id)
}

function attributeOf(stack: Stack, id: string, attribute: string): string {
  if (attribute === 'Arn') return arnOf(stack, id)
  // Lambda numbers it when it is published.
  if (attribute === 'Version') return `${id}.${attribute}`
  if (attribute === 'RootResourceId' || attribute === 'StateMachineRevisionId') return `${id}.${attribute}`
  throw new Error(`the template reads ${id}.${attribute}, which this loader does not know`)
}

const ARNS: Readonly<Record<string, (name: string) => string>> = {
  'AWS::WAFv2::WebACL': (name) => `arn:aws:wafv2:${REGION}:${ACCOUNT}:regional/webacl/${name}/1`,
  'AWS::DynamoDB::Table': (name) => `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`,
  'AWS::S3::Bucket': (name) => `arn:aws:s3:::${name}`,
  'AWS::Lambda::Function': (name) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`,
  'AWS::IAM::Role': (name) => `arn:aws:iam::${ACCOUNT}:role/${name}`,
  'AWS::Logs::LogGroup': (name) => `arn:aws:logs:${REGION}:${ACCOUNT}:log-group:${name}:*`,
  'AWS::SQS::Queue': (name) => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`,
  'AWS::Events::Rule': (name) => `arn:aws:events:${REGION}:${ACCOUNT}:rule/${name}`,
  'AWS::StepFunctions::StateMachine': (name) => `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${name}`,
}

function arnOf(stack: Stack, id: string): string {
  const { Type } = resourceOf(stack, id)
  const make = ARNS[Type]
  if (make === undefined) throw new Error(`the template reads the ARN of a ${Type}, which this loader does not know`)
  return make(Type === 'AWS::StepFunctions::StateMachine' ? property(stack, id, 'StateMachineName') : nameOf(stack, id))
}

function nameOf(stack: Stack, id: string): string {
  const { Type, Properties = {} } = resourceOf(stack, id)
  const given = NAMES[Type]
  return given !== undefined && given in Properties ? property(stack, id, given) : id
}

function property(stack: Stack, id: string, name: string): string {
  return String(resolve(stack, resourceOf(stack, id).Properties?.[name]))
}

function resourceOf(stack: Stack, id: string): Raw {
  const found = stack[id]
  if (found !== undefined) return found
  throw new Error(`the template refers to ${id}, which is not in it`)
}
