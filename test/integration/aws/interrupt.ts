import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'

type Then = () => Promise<unknown>

/** The first request that reads so is done; then `then` happens, and the answer is lost. */
export function loseAnswer(client: DynamoDBClient, like: RegExp, then: Then = async () => {}): void {
  interrupt(client, like, 1, async (send) => {
    await send()
    await then()
  })
}

/** The first request that reads so is lost; `then` happens before it is sent again. */
export function loseRequest(client: DynamoDBClient, like: RegExp, then: Then): void {
  interrupt(client, like, 1, then)
}

/** Every request that reads so is lost. */
export function loseAll(client: DynamoDBClient, like: RegExp): void {
  interrupt(client, like, Number.POSITIVE_INFINITY, async () => {})
}

function interrupt(client: DynamoDBClient, like: RegExp, times: number, how: (send: Then) => Promise<unknown>): void {
  let left = times
  client.middlewareStack.add(
    (next) => async (args) => {
      if (left === 0 || !like.test(JSON.stringify(args.input))) return next(args)
      left -= 1
      await how(() => next(args))
      throw Object.assign(new Error('cut off'), { code: 'ECONNRESET' })
    },
    { step: 'deserialize', priority: 'low' },
  )
}
