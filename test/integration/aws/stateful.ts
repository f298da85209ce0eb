import { type Assembly, STACKS, textOf } from './assembly.ts'

/** What a replacement would lose or empty, by logical id: all that decides whether CloudFormation replaces it. */
export type Stateful = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * Properties whose change replaces the resource (CloudFormation reference, "Update requires: Replacement"), and what
 * protects it. Of the table its indexes too: a changed key empties an index and fills it again for hours. A new RestApi is
 * a new address for every caller.
 */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::Table': [
    'TableName',
    'KeySchema',
    'AttributeDefinitions',
    'LocalSecondaryIndexes',
    'GlobalSecondaryIndexes',
    'DeletionProtectionEnabled',
    'PointInTimeRecoverySpecification',
    'TimeToLiveSpecification',
  ],
  'AWS::S3::Bucket': ['BucketName', 'ObjectLockEnabled', 'VersioningConfiguration'],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::ApiGateway::RestApi': [],
}

export function statefulOf({ template }: Assembly): Stateful {
  const found = STACKS.flatMap((stack) =>
    Object.entries(template(stack)).flatMap(([id, { Type, Properties, ...resource }]) => {
      const kept = KEPT[Type]
      if (kept === undefined) return []
      const { DeletionPolicy, UpdateReplacePolicy } = resource as Readonly<Record<string, unknown>>
      const properties = kept.map((name) => [name, readable(Properties[name])] as const)
      const said = { type: Type, stack, DeletionPolicy, UpdateReplacePolicy, ...Object.fromEntries(properties) }
      return [[id, said] as const]
    }),
  )
  // As it is written: what is undefined is not there.
  return JSON.parse(JSON.stringify(Object.fromEntries(found)))
}

/** A name that AWS completes is text. */
function readable(value: unknown): unknown {
  const isFunction =
    typeof value === 'object' && value !== null && Object.keys(value).some((key) => /^(Ref|Fn::)/.test(key))
  return isFunction ? textOf(value) : value
}

/** What a deployment over `before` would do to its data, a sentence each. Nothing = all of it stays where it is. */
export function lossesOf(before: Stateful, after: Stateful): readonly string[] {
  return Object.entries(before).flatMap(([id, was]) => {
    const is = after[id]
    if (is === undefined) {
      const heir = Object.entries(after).find(([other, { type }]) => type === was.type && before[other] === undefined)
      const why = heir === undefined ? 'it is gone from the templates' : `its logical id became ${heir[0]}`
      return [`${was.type} ${id} would be deleted or orphaned: ${why}.`]
    }
    return Object.keys({ ...was, ...is })
      .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
      .map((name) => `${was.type} ${id}: ${name} was ${show(was[name])}, is ${show(is[name])}: ${effectOf(name)}.`)
  })
}

function effectOf(name: string): string {
  if (/Policy$|Protection|Recovery|Versioning/.test(name)) return 'its data would be less protected, or differently'
  if (name === 'GlobalSecondaryIndexes') return 'an index would be emptied and filled again, one a deployment'
  if (name === 'stack') return 'another stack cannot take it over, it would be made anew'
  return 'CloudFormation would replace it'
}

function show(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value)
}
