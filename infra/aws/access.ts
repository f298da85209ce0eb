import { ArnFormat, type Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { type AskedModel, modelStatements } from './model-access.ts'
import { arnsOf } from './named-resources.ts'
import type { Names } from './names.ts'
import type { Right } from './right.ts'
import { type Allowed, STATEMENTS } from './right-statements.ts'

/**
 * The IAM statements of one right: actions spelled out, resources by name. A `*` in a resource stands for a name only a
 * run makes: an object's hash, a run id, the hash of an inline document, the number of a machine's version. Without
 * secrets in the settings `secrets.read` is no right at all, nor is `models.ask` without models of Bedrock (those of
 * `research.` are of its provider alone, as those of `embeddings.` and `judge.` are of theirs), nor `shell.run` where no shell-gate
 * stands, nor anything of Slack without a workspace, nor a nudge for webhooks where there are none.
 */
export function statementsOf(right: Right, stack: Stack, names: Names, chosen: Chosen): PolicyStatement[] {
  if (isByChoice(right)) return BY_CHOICE[right](chosen, stack)
  if (right === 'shell.run' && !chosen.shell) return []
  if (ANCHORING.has(right) && chosen.anchors !== true) return []
  if (right === 'outbox.slack' && chosen.slack === undefined) return []
  if (right === 'webhooks.nudge' && (chosen.webhooks ?? []).length === 0) return []
  const { tenants, slack } = chosen
  const allowed: Readonly<Record<Exclude<Right, ByChoice>, readonly Allowed[]>> = STATEMENTS
  return allowed[right].map(({ on, actions, conditions }) => {
    const resources = [...arnsOf(stack, names, on, tenants)]
    return new PolicyStatement({
      actions: [...actions],
      resources,
      ...(conditions === undefined ? {} : { conditions: conditions({ tenants, slack }) }),
    })
  })
}

const ANCHORING: ReadonlySet<Right> = new Set(['outbox.anchor', 'anchors.put', 'anchors.read'])

/** What asking providers takes. */
interface Asked {
  /** ARNs of the secrets that hold keys of providers. */
  readonly secrets: readonly string[]
  readonly models: readonly AskedModel[]
}

/** What the stage's settings decide of rights. */
export interface Chosen extends Asked {
  /** Whose items and objects there are: rights end at theirs. */
  readonly tenants: readonly string[]
  /** Of the one provider that answers the research chain, and of its one model. */
  readonly research: Asked
  /** ARN of the secret that holds the key of the provider of embeddings, where there is one. */
  readonly embeddings: readonly string[]
  /** Of the provider and model that may doubt an answer; absent = there is none. */
  readonly judge?: Asked | undefined
  /** Shell gates are on. */
  readonly shell: boolean
  /** Executions are kept free for what must go on; absent = nothing but shell gates has its own. */
  readonly reserved?: boolean
  /** Ends of hash chains are put into a bucket with Object Lock; absent = there is none. */
  readonly anchors?: boolean
  /** ARN of the customer's key that data is under; absent = AWS's own keys. */
  readonly key?: string | undefined
  /** ARNs of the secrets webhooks are signed with, and of headers of spans; absent = there are none. */
  readonly webhooks?: readonly string[]
  readonly telemetry?: readonly string[]
  /** Callers come with a bearer credential; absent = they are signed by IAM. */
  readonly auth?: 'token' | 'jwt' | undefined
  /** ARNs of Slack's token and signing secrets, and whose the workspace is; absent = none is configured. */
  readonly slack?: { readonly tenant: string; readonly token: string; readonly signing: readonly string[] } | undefined
}

/** Rights on what the settings name. */
const BY_CHOICE = {
  'secrets.read': ({ secrets }: Chosen) => secrets.map(secretStatement),
  'models.ask': ({ models }: Chosen, stack: Stack) => askedStatements(models, stack),
  'research.secrets': ({ research }: Chosen) => research.secrets.map(secretStatement),
  'research.models': ({ research }: Chosen, stack: Stack) => askedStatements(research.models, stack),
  'embeddings.secrets': ({ embeddings }: Chosen) => embeddings.map(secretStatement),
  'judge.secrets': ({ judge }: Chosen) => (judge?.secrets ?? []).map(secretStatement),
  'judge.models': ({ judge }: Chosen, stack: Stack) => askedStatements(judge?.models ?? [], stack),
  'slack.verify': ({ slack }: Chosen) => (slack?.signing ?? []).map(secretStatement),
  'webhooks.sign': ({ webhooks = [] }: Chosen) => webhooks.map(secretStatement),
  'telemetry.secrets': ({ telemetry = [] }: Chosen) => telemetry.map(secretStatement),
  'slack.call': ({ slack }: Chosen) => (slack === undefined ? [] : [secretStatement(slack.token)]),
} as const
type ByChoice = keyof typeof BY_CHOICE

function isByChoice(right: Right): right is ByChoice {
  return Object.hasOwn(BY_CHOICE, right)
}

function askedStatements(models: readonly AskedModel[], stack: Stack): PolicyStatement[] {
  return models.flatMap((model) => modelStatements(model, stack))
}

/** Exactly this one: the settings take whole ARNs only. */
function secretStatement(arn: string): PolicyStatement {
  const action = arn.split(':')[2] === 'ssm' ? 'ssm:GetParameter' : 'secretsmanager:GetSecretValue'
  return new PolicyStatement({ actions: [action], resources: [arn] })
}

/** ARN of a function of the catalog, made of its name: any stack may say it. */
export function functionArn(stack: Stack, names: Names, name: string): string {
  const resourceName = names.function(name)
  const arnFormat = ArnFormat.COLON_RESOURCE_NAME
  return stack.formatArn({ service: 'lambda', resource: 'function', resourceName, arnFormat })
}
