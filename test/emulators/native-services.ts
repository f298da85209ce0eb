import type { MakeNativeCall, NativeCall } from '../../infra/local/asl/execution-context.ts'
import { StateError } from '../../infra/local/asl/state-error.ts'
import type { Json } from '../../shared/text/json.ts'
import { ACCOUNT, REGION } from './aws-client.ts'

type Given = Readonly<Record<string, Json>>

/** What a call needs of the role of its machine. */
interface Wish {
  readonly action: string
  readonly resource: string
  readonly passedTo?: string
  readonly cluster?: string
}

interface Service {
  wishes(given: Given): readonly Wish[]
  /** What it answers; `Error` and `Cause` of a StateError as Step Functions has them. */
  answer(given: Given, signal: AbortSignal): Promise<Json> | Json
}

const arn = (service: string, rest: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${rest}`

/** A task works as another role than its definition says where it is started so. */
function rolesIn(overrides: Json | undefined): readonly string[] {
  const { TaskRoleArn } = (overrides ?? {}) as Given
  return TaskRoleArn === undefined ? [] : [String(TaskRoleArn)]
}

interface Options {
  allows(wish: Wish): boolean
  /** A function that is none of the deployment's. */
  invoke(name: string, payload: Json): Promise<Json>
  /** The work of a task: throws to fail it. */
  runTask(given: Given, signal: AbortSignal): Promise<void>
  /** Roles of the task definitions there are, by family. */
  readonly roles: Readonly<Record<string, readonly string[]>>
}

/**
 * Services that states call themselves, as far as tests go: what a state gives them is recorded, and the role of its machine
 * is asked first, for every action that Step Functions performs for the call (its guide, "Integrating services").
 */
export function createNativeServices(options: Options) {
  const calls: { readonly resource: string; readonly given: Given }[] = []
  const services: Readonly<Record<string, Service>> = {
    'sqs:sendMessage': {
      wishes: ({ QueueUrl }) => {
        const [name, account] = String(QueueUrl).split('/').reverse()
        return [{ action: 'sqs:SendMessage', resource: `arn:aws:sqs:${REGION}:${account}:${name}` }]
      },
      answer: ({ MessageBody }) => {
        if (String(MessageBody).startsWith('refuse')) {
          throw new StateError('SQS.SqsException', 'The queue is closed, password: hunter2hunter2')
        }
        return { MessageId: `m-${calls.length}`, MD5OfMessageBody: 'x' }
      },
    },
    'lambda:invoke': {
      wishes: ({ FunctionName }) => [{ action: 'lambda:InvokeFunction', resource: String(FunctionName) }],
      answer: async ({ FunctionName, Payload = {} }) => {
        const name = String(FunctionName).split(':')[6] ?? ''
        return { ExecutedVersion: '$LATEST', StatusCode: 200, Payload: await options.invoke(name, Payload) }
      },
    },
    'ecs:runTask.sync': {
      wishes: ({ TaskDefinition, Cluster, Overrides }) => [
        { action: 'ecs:RunTask', resource: arn('ecs', `task-definition/${String(TaskDefinition)}:7`) },
        ...[...(options.roles[String(TaskDefinition)] ?? []), ...rolesIn(Overrides)].map((resource) => ({
          action: 'iam:PassRole',
          resource,
          passedTo: 'ecs-tasks.amazonaws.com',
        })),
        ...['events:PutTargets', 'events:PutRule', 'events:DescribeRule'].map((action) => ({
          action,
          resource: arn('events', 'rule/StepFunctionsGetEventsForECSTaskRule'),
        })),
        ...['ecs:DescribeTasks', 'ecs:StopTask'].map((action) => ({
          action,
          resource: `${String(Cluster).replace(':cluster/', ':task/')}/0123456789abcdef`,
          cluster: String(Cluster),
        })),
      ],
      answer: async (given, signal) => {
        await options.runTask(given, signal)
        return {
          TaskArn: arn('ecs', 'task/main/0123456789abcdef'),
          LastStatus: 'STOPPED',
          StopCode: 'EssentialContainerExited',
        }
      },
    },
  }
  const native: MakeNativeCall = async ({ resource, arguments: made }: NativeCall, signal) => {
    const service = services[resource]
    // Every call gets an object (functions/attempts/native-call.ts).
    const given = made as Given
    if (service === undefined) throw new StateError('States.TaskFailed', `no ${resource} here`)
    calls.push({ resource, given })
    const denied = service.wishes(given).find((wish) => !options.allows(wish))
    if (denied !== undefined) {
      throw new StateError('States.TaskFailed', `AccessDenied: ${denied.action} on ${denied.resource}`)
    }
    return service.answer(given, signal)
  }
  return { native, calls: calls as readonly (typeof calls)[number][] }
}
