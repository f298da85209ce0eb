import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb'

/** An item as the wire has it. */
export type Item = Readonly<Record<string, AttributeValue>>

/** What the real table answers to a request that is wrong; the SDK has no class of its own for it. */
export function invalid(message: string): DynamoDBServiceException {
  return new DynamoDBServiceException({ name: 'ValidationException', $fault: 'client', $metadata: { ...BAD }, message })
}

/** The condition of a write did not hold; with the item as it was, if the request asked for it. */
export function conditionFailed(item: Item | undefined): ConditionalCheckFailedException {
  return new ConditionalCheckFailedException({
    $metadata: { ...BAD },
    message: 'The conditional request failed',
    ...(item === undefined ? {} : { Item: item }),
  })
}

export const refusals = {
  unknownTable: () => new ResourceNotFoundException({ $metadata: { ...BAD }, message: 'Requested resource not found' }),
  /** Not an answer of DynamoDB: the item store does not know what was asked, and must learn it before it is used. */
  unsupported: (what: string) => Object.assign(new Error(`The item store does not know ${what}.`), UNSUPPORTED),
} as const

/** Each refusal has its own: whoever hands it on may say there how often it was sent. */
const BAD = { httpStatusCode: 400, attempts: 1 } as const
const UNSUPPORTED = { name: 'UnsupportedByItemStore' } as const
