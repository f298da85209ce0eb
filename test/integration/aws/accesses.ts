import { type Assembly, STACKS, textOf } from './assembly.ts'

/** A statement of a role, as people read it. */
export interface Access {
  readonly who: string
  readonly policy: string
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly condition: string
}

/** Every statement of every role, as the templates have them. */
export function readAccesses(made: Assembly): readonly Access[] {
  const owners = new Map(
    made
      .all('AWS::Lambda::Function')
      .map(({ Properties }) => [
        /^<(\w+)\.Arn>$/.exec(textOf(Properties.Role))?.[1] ?? '',
        textOf(Properties.FunctionName).replace('sluice-dev-', ''),
      ]),
  )
  return made.all('AWS::IAM::Role').flatMap(({ id, Properties }) => {
    // The shape CloudFormation documents for inline policies.
    const policies = (Properties.Policies ?? []) as readonly {
      readonly PolicyName: string
      readonly PolicyDocument: { readonly Statement: readonly Statement[] }
    }[]
    return policies.flatMap(({ PolicyName, PolicyDocument }) =>
      PolicyDocument.Statement.map((statement) => ({
        who: owners.get(id) ?? SERVICES.find(([part]) => id.startsWith(part))?.[1] ?? id,
        policy: PolicyName,
        actions: [statement.Action].flat(),
        resources: [statement.Resource].flat().map((resource) => readable(made, resource)),
        condition: statement.Condition === undefined ? '' : JSON.stringify(statement.Condition),
      })),
    )
  })
}

const SERVICES = [
  ['Machines', '(every state machine)'],
  ['GatewayLogs', '(API Gateway)'],
] as const

function readable(made: Assembly, resource: unknown): string {
  const [, id] = /^<(\w+)\.Arn>$/.exec(textOf(resource)) ?? []
  const named = id === undefined ? undefined : arnOf(made, id)
  return named ?? textOf(resource).replace('arn:<Partition>:', '').replace('<Region>:<AccountId>:', '')
}

function arnOf(made: Assembly, id: string): string | undefined {
  const { LogGroupName, FunctionName, QueueName } =
    [...STACKS, 'SluiceSteps'].map((stack) => made.template(stack)[id]).find((found) => found !== undefined)
      ?.Properties ?? {}
  if (LogGroupName !== undefined) return `logs:log-group:${textOf(LogGroupName)}`
  if (FunctionName !== undefined) return `lambda:function:${textOf(FunctionName)}`
  return QueueName === undefined ? undefined : `sqs:${textOf(QueueName)}`
}

interface Statement {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Condition?: unknown
}
