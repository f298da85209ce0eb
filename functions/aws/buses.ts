import { EventBridgeClient, type EventBridgeClientConfig, PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { Fault } from '../../shared/errors.ts'
import { type Buses, eventSource } from '../../shared/webhooks/buses.ts'
import type { Core } from './core.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

/**
 * The Buses port: one PutEvents an event. EventBridge answers 200 and says of each entry whether it took it; nothing of it
 * deduplicates, so whoever listens does, by `detail.id`.
 */
export function openBuses(
  { settings, env }: Pick<Core, 'settings' | 'env'>,
  config: EventBridgeClientConfig = {},
): Buses {
  const client = new EventBridgeClient({ ...CLIENT_OPTIONS, ...config })
  return {
    async put(name, { type, at, message }) {
      const EventBusName = settings.buses.find((bus) => bus.name === name)?.bus
      if (EventBusName === undefined) throw unknownBus(name)
      const entry = { EventBusName, Source: eventSource(env.STAGE), DetailType: type, Detail: message.text }
      const command = new PutEventsCommand({ Entries: [{ ...entry, Time: new Date(at) }] })
      const { Entries: [taken] = [] } = await client.send(command).catch((error: unknown) => {
        throw sdkFault(error, { doing: `put an event on bus "${name}"`, action: 'events:PutEvents' })
      })
      if (taken?.EventId === undefined) throw refused(name, taken?.ErrorCode)
    },
  }
}

/** Which of the codes it is says the log of the function; EventBridge's own words may name accounts. */
function refused(name: string, code = 'no event id'): Fault {
  const message = `Cannot put an event on bus "${name}": EventBridge answered ${code}. See that the bus is there and its policy lets this account in.`
  return new Fault('Unavailable', 'bus_refused', message, { facts: { bus: name, aws_error: code } })
}

function unknownBus(name: string): Fault {
  return new Fault('Bug', 'unknown_bus', `Cannot put an event on bus "${name}": the settings name none so.`)
}
