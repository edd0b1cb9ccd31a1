import type { Instance } from "./instance.ts";

/** Fills an instance with a house: a thermostat, a smoke and CO alarm, lights, a switch, a fan, a sensor, two persons. */
export function furnish(instance: Instance): void {
  const [hallway, kitchen, bedroom] = ["Hallway", "Kitchen", "Bedroom"].map((name) => instance.addArea(name));
  addThermostat(instance, hallway!);
  addAlarm(instance, kitchen!);
  const lamp = { friendly_name: "Ceiling", brightness: 128, supported_color_modes: ["brightness"] };
  instance.addEntity("light.ceiling", "on", lamp, { area_id: kitchen!, original_name: "Ceiling" });
  instance.addEntity("switch.kettle", "off", { friendly_name: "Kettle" }, { area_id: kitchen! });
  const fan = { friendly_name: "Bedroom fan", percentage: 50, percentage_step: 25, supported_features: 1 | 16 | 32 };
  instance.addEntity("fan.bedroom", "on", fan, { area_id: bedroom! });
  const climate = { friendly_name: "Bedroom temperature", device_class: "temperature", unit_of_measurement: "°C" };
  instance.addEntity("sensor.bedroom_temperature", "19.4", climate, { area_id: bedroom! });
  instance.addEntity("person.ada", "home", { friendly_name: "Ada" });
  instance.addEntity("person.grace", "not_home", { friendly_name: "Grace" });
  instance.set("zone.home", "1", { friendly_name: "Home", persons: ["person.ada"] });
}

function addThermostat(instance: Instance, area_id: string): void {
  const device_id = instance.addDevice({
    name: "Thermostat",
    manufacturer: "Google Nest",
    model: "Thermostat",
    area_id,
  });
  const isMetric = instance.temperatureUnit === "°C";
  const temperatures = isMetric
    ? { current_temperature: 19.5, temperature: 20, min_temp: 9, max_temp: 32, target_temp_step: 0.5 }
    : { current_temperature: 67, temperature: 68, min_temp: 48, max_temp: 90, target_temp_step: 1 };
  const attributes = {
    friendly_name: "Thermostat",
    hvac_modes: ["off", "heat", "cool", "heat_cool"],
    ...temperatures,
    target_temp_low: null,
    target_temp_high: null,
    current_humidity: 41,
    hvac_action: "heating",
    fan_modes: ["on", "off"],
    fan_mode: "off",
    preset_modes: ["none", "eco"],
    preset_mode: "none",
    supported_features: 1 | 2 | 8 | 16 | 128 | 256,
  };
  instance.addEntity("climate.hallway", "heat", attributes, { device_id, platform: "nest" });
}

function addAlarm(instance: Instance, area_id: string): void {
  const device_id = instance.addDevice({ name: "Kitchen Protect", manufacturer: "Nest", model: "Protect", area_id });
  const add = (name: string, device_class: string, state: string, category: "diagnostic" | null = null) => {
    const attributes = { friendly_name: `Kitchen Protect ${name}`, device_class };
    const entry = { device_id, original_name: name, has_entity_name: true, entity_category: category };
    instance.addEntity(`binary_sensor.kitchen_${name.toLowerCase()}`, state, attributes, entry);
  };
  add("Smoke", "smoke", "off");
  add("CO", "carbon_monoxide", "off");
  add("Battery", "battery", "off", "diagnostic");
  add("Online", "connectivity", "on", "diagnostic");
}
