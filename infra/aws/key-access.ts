import { PolicyStatement } from 'aws-cdk-lib/aws-iam'

/**
 * What a role needs of the customer-managed key, found in what it may do already: who reads decrypts, who writes takes
 * data keys. Each statement holds only for calls that the service makes for it (`kms:ViaService`): no function can use the
 * key itself. Undefined = the role touches nothing that is under the key.
 */
export function keyStatements(
  key: string,
  region: string,
  actions: readonly string[],
): readonly PolicyStatement[] | undefined {
  const statements = SERVICES.flatMap(({ service, reads, writes }) => {
    const of = actions.filter((action) => action.startsWith(`${service}:`))
    const needed = [
      ...(of.some((action) => reads.test(action)) ? READ : []),
      ...(of.some((action) => writes.test(action)) ? WRITE[service] : []),
    ]
    if (needed.length === 0) return []
    const conditions = { StringEquals: { 'kms:ViaService': `${service}.${region}.amazonaws.com` } }
    return [new PolicyStatement({ actions: [...new Set(needed)], resources: [key], conditions })]
  })
  return statements.length === 0 ? undefined : statements
}

/** AWS's own lists are wider by a star (`kms:ReEncrypt*`); these are the actions behind it. */
const READ = ['kms:Decrypt']
const WRITE = {
  // Source: DynamoDB guide, "Encryption at rest: authorizing use of your customer managed key". CreateGrant is the deployer's.
  dynamodb: [
    'kms:Decrypt',
    'kms:DescribeKey',
    'kms:Encrypt',
    'kms:GenerateDataKey',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
  ],
  s3: ['kms:GenerateDataKey'],
  // Source: SQS guide, "Configure KMS permissions for producers".
  sqs: ['kms:Decrypt', 'kms:GenerateDataKey'],
} as const

const SERVICES = [
  { service: 'dynamodb', reads: /:(Get|BatchGet|Query)/, writes: /:(Put|Update|Delete|BatchWrite)/ },
  { service: 's3', reads: /:GetObject$/, writes: /:PutObject$/ },
  { service: 'sqs', reads: /:ReceiveMessage$/, writes: /:SendMessage$/ },
] as const
