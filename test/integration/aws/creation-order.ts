import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Assembly, stacksIn, textOf } from './assembly.ts'

/** A resource with what it is created after. */
interface Node {
  readonly id: string
  readonly stack: string
  readonly type: string
  readonly properties: Readonly<Record<string, unknown>>
}

/** What CloudFormation may create at the same time in a template, and in which order stacks are deployed. */
interface Order {
  readonly nodes: readonly Node[]
  /** Whether it is there when the other one is begun: in its own template by reference or DependsOn, else by its stack. */
  isBefore(first: Node, then: Node): boolean
}

export function creationOrder(made: Assembly): Order {
  const after = new Map<string, ReadonlySet<string>>()
  const nodes: Node[] = []
  const names = stacksIn(made.out)
  for (const stack of names) {
    const resources = made.template(stack)
    for (const [id, resource] of Object.entries(resources)) {
      const { DependsOn = [] } = resource as { readonly DependsOn?: string | readonly string[] }
      const direct = new Set([...references(resource.Properties ?? {}), ...[DependsOn].flat()])
      after.set(`${stack}/${id}`, new Set([...direct].filter((one) => one in resources)))
      nodes.push({ id, stack, type: resource.Type, properties: resource.Properties ?? {} })
    }
  }
  const stackOrder = stackDependencies(made.out)
  return {
    nodes,
    isBefore(first, then) {
      if (first.stack !== then.stack) return reaches((stack) => stackOrder.get(stack) ?? [], then.stack, first.stack)
      const edges = (id: string) => after.get(`${then.stack}/${id}`) ?? []
      return reaches(edges, then.id, first.id)
    },
  }
}

/** Whether a way along the edges leads from one to the other. */
function reaches(edges: (key: string) => Iterable<string>, from: string, to: string): boolean {
  const seen = new Set<string>()
  const open = [from]
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const next of edges(key)) {
      if (next === to) return true
      if (!seen.has(next)) open.push(next)
      seen.add(next)
    }
  }
  return false
}

/** Logical ids that a value names by Ref, GetAtt or Sub. */
function references(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(references)
  return Object.entries(value).flatMap(([key, of]) => {
    if (key === 'Ref') return [String(of)]
    if (key === 'Fn::GetAtt') return [String(Array.isArray(of) ? of[0] : String(of).split('.')[0])]
    if (key === 'Fn::Sub') {
      const text = String(Array.isArray(of) ? of[0] : of)
      return [...[...text.matchAll(/\$\{([\w]+)/g)].map(([, name = '']) => name), ...references(of)]
    }
    return references(of)
  })
}

/** Of the assembly's own list: what the CDK deploys before what. */
function stackDependencies(out: string): ReadonlyMap<string, readonly string[]> {
  const { artifacts } = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as {
    readonly artifacts: Readonly<Record<string, { readonly dependencies?: readonly string[] }>>
  }
  return new Map(Object.entries(artifacts).map(([name, { dependencies = [] }]) => [name, dependencies]))
}

/** What must be there before something of a type is begun, or its creation fails or is incomplete. */
interface Need {
  readonly type: string
  readonly what: string
  /** Whether `other` has to be there before `it`. */
  needs(it: Node, other: Node): boolean
}

const name = (node: Node, key: string) => textOf(node.properties[key] ?? '')
const isOf = (node: Node, type: string) => node.type === type
/** Its text names the other by id, by attribute, or by the name it is given. */
const mentions = (it: Node, part: unknown, other: Node, key: string) => {
  const text = JSON.stringify(part ?? '')
  const given = other.properties[key]
  const bare = typeof given === 'string' ? given : undefined
  if (it.stack === other.stack && references(part).includes(other.id)) return true
  return bare !== undefined && new RegExp(`[/:"]${bare.replaceAll(/[/.]/g, '\\$&')}(?=[":*]|$)`).test(text)
}

/**
 * Each with what happens where it is not so. Not among them: the policy of a bucket of access logs names the bucket it takes
 * logs of, so it is made after that one, and S3 asks for it at the first delivery, not when logging is turned on.
 */
export const NEEDS: readonly Need[] = [
  {
    type: 'AWS::StepFunctions::StateMachine',
    what: 'the role it runs as: Step Functions refuses a role that it cannot assume, or that may not log',
    needs: (it, other) => isOf(other, 'AWS::IAM::Role') && mentions(it, it.properties.RoleArn, other, 'RoleName'),
  },
  {
    type: 'AWS::StepFunctions::StateMachine',
    what: 'rights that its role gets by policies of their own, log delivery among them',
    needs: (it, other) => isPolicyOf(other, it.properties.RoleArn),
  },
  {
    type: 'AWS::StepFunctions::StateMachine',
    what: 'the log group it writes to',
    needs: (it, other) =>
      isOf(other, 'AWS::Logs::LogGroup') && mentions(it, it.properties.LoggingConfiguration, other, 'LogGroupName'),
  },
  {
    type: 'AWS::StepFunctions::StateMachine',
    what: 'policies of CloudWatch Logs that let it in',
    needs: (_, other) => isOf(other, 'AWS::Logs::ResourcePolicy'),
  },
  {
    type: 'AWS::Lambda::Function',
    what: 'its role',
    needs: (it, other) => isOf(other, 'AWS::IAM::Role') && mentions(it, it.properties.Role, other, 'RoleName'),
  },
  {
    type: 'AWS::Lambda::Function',
    what: 'rights that its role gets by policies of their own: Lambda asks whether it may send to its dead letters',
    needs: (it, other) => isPolicyOf(other, it.properties.Role),
  },
  {
    type: 'AWS::Lambda::Function',
    what: 'its log group: a first call would make one that is kept for ever',
    needs: (it, other) =>
      isOf(other, 'AWS::Logs::LogGroup') &&
      (mentions(it, it.properties.LoggingConfig, other, 'LogGroupName') ||
        name(other, 'LogGroupName') === `/aws/lambda/${name(it, 'FunctionName')}`),
  },
  {
    type: 'AWS::Lambda::Function',
    what: 'its dead letters',
    needs: (it, other) =>
      isOf(other, 'AWS::SQS::Queue') && mentions(it, it.properties.DeadLetterConfig, other, 'QueueName'),
  },
  {
    type: 'AWS::Lambda::EventSourceMapping',
    what: 'the rights of the function to read its source',
    needs: (_, other) => isOf(other, 'AWS::IAM::Policy'),
  },
  {
    type: 'AWS::Lambda::Permission',
    what: 'the function that may be called',
    needs: (it, other) =>
      isOf(other, 'AWS::Lambda::Function') && mentions(it, it.properties.FunctionName, other, 'FunctionName'),
  },
  {
    type: 'AWS::ApiGateway::Stage',
    what: 'the role that API Gateway logs through: else it may not enable logging',
    needs: (_, other) => isOf(other, 'AWS::ApiGateway::Account'),
  },
  {
    type: 'AWS::ApiGateway::Stage',
    what: 'both of its log groups: API Gateway would make the one of executions itself',
    needs: (it, other) =>
      isOf(other, 'AWS::Logs::LogGroup') &&
      (mentions(it, it.properties.AccessLogSetting, other, 'LogGroupName') ||
        name(other, 'LogGroupName').startsWith('API-Gateway-Execution-Logs_')),
  },
  {
    type: 'AWS::ApiGateway::Stage',
    what: 'policies of CloudWatch Logs that let it in',
    needs: (_, other) => isOf(other, 'AWS::Logs::ResourcePolicy'),
  },
  {
    type: 'AWS::ApiGateway::Account',
    what: 'the role it is told of, with its rights',
    needs: (it, other) =>
      (isOf(other, 'AWS::IAM::Role') && mentions(it, it.properties.CloudWatchRoleArn, other, 'RoleName')) ||
      isPolicyOf(other, it.properties.CloudWatchRoleArn),
  },
  {
    type: 'AWS::ApiGateway::Deployment',
    what: 'every method, answer of the gateway, validator and authorizer: what comes later is not in it',
    needs: (_, other) => /^AWS::ApiGateway::(Method|GatewayResponse|RequestValidator|Authorizer)$/.test(other.type),
  },
  {
    type: 'AWS::WAFv2::WebACLAssociation',
    what: 'the stage it stands before',
    needs: (_, other) => isOf(other, 'AWS::ApiGateway::Stage'),
  },
  {
    type: 'AWS::CloudFormation::CustomResource',
    what: 'the rights of what makes it',
    needs: (_, other) => isOf(other, 'AWS::IAM::Policy'),
  },
  {
    type: 'AWS::ECS::TaskDefinition',
    what: 'the role it begins with, and its log group',
    needs: (it, other) =>
      (isOf(other, 'AWS::IAM::Role') && mentions(it, it.properties.ExecutionRoleArn, other, 'RoleName')) ||
      (isOf(other, 'AWS::Logs::LogGroup') && mentions(it, it.properties.ContainerDefinitions, other, 'LogGroupName')),
  },
]

/** A policy that is no part of the role itself: CloudFormation makes it after the role, at any time. */
function isPolicyOf(other: Node, role: unknown): boolean {
  if (other.type !== 'AWS::IAM::Policy' && other.type !== 'AWS::IAM::RolePolicy') return false
  const roles = [other.properties.Roles ?? other.properties.RoleName].flat().flatMap(references)
  return references(role).some((id) => roles.includes(id))
}

/** What may be begun before what it needs is there, as lines; and how often each need was met. */
export function orderProblems({ nodes, isBefore }: Order, needs: readonly Need[] = NEEDS) {
  const met = new Map<Need, number>()
  const problems = needs.flatMap((need) =>
    nodes
      .filter(({ type }) => type === need.type)
      .flatMap((it) =>
        nodes
          .filter((other) => other !== it && need.needs(it, other))
          .flatMap((other) => {
            if (isBefore(other, it)) {
              met.set(need, (met.get(need) ?? 0) + 1)
              return []
            }
            return `${it.stack}/${it.id} (${it.type}) may be begun before ${other.stack}/${other.id} (${other.type}): ${need.what}`
          }),
      ),
  )
  return { problems, met }
}
