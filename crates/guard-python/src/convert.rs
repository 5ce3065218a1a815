//! Values between Python and JSON. What is not JSON is refused, with its path.

use crate::errors::argument;
use guard_plan::json::{Json, MAX_DEPTH};
use guard_plan::{decimal, time};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::borrow::Cow;
use std::fmt::Write as _;

/// A step into a value, for messages.
enum MessageStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// The way from the outermost value to the current one.
struct ValuePath<'a> {
    step: Option<MessageStep<'a>>,
    above: Option<&'a ValuePath<'a>>,
    depth: usize,
}

impl ValuePath<'_> {
    fn text(&self) -> String {
        let mut text = self.above.map(ValuePath::text).unwrap_or_else(|| "the value".into());
        match self.step {
            Some(MessageStep::Key(key)) => {
                let _ = write!(text, "[{key:?}]");
            }
            Some(MessageStep::Index(index)) => {
                let _ = write!(text, "[{index}]");
            }
            None => {}
        }
        text
    }

    fn refuse<T>(&self, why: &str) -> PyResult<T> {
        Err(argument(format!("{} {why}", self.text())))
    }
}

/// The JSON of a Python value: `None`, `bool`, `int`, `float`, `str`, `list`, `tuple` and `dict` with text keys.
pub fn json(value: &Bound<'_, PyAny>) -> PyResult<Json> {
    read(value, &ValuePath { step: None, above: None, depth: 0 })
}

fn read(value: &Bound<'_, PyAny>, path: &ValuePath<'_>) -> PyResult<Json> {
    if let Ok(text) = value.cast::<PyString>() {
        return string(text, path);
    }
    if value.is_none() {
        return Ok(Json::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Json::Bool(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return integer(value, path);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return float(number, path);
    }
    if let Ok(members) = value.cast_exact::<PyDict>() {
        return object(members, path);
    }
    if let Ok(items) = value.cast_exact::<PyList>() {
        return array(items.iter(), path);
    }
    if let Ok(items) = value.cast_exact::<PyTuple>() {
        return array(items.iter(), path);
    }
    let class = value.get_type().name()?;
    path.refuse(&format!("is of type `{class}`, which is not JSON"))
}

fn string(text: &Bound<'_, PyString>, path: &ValuePath<'_>) -> PyResult<Json> {
    match text.to_cow() {
        Ok(text) => Ok(Json::String(text.into())),
        Err(_) => path.refuse("has a lone surrogate, which is not Unicode text"),
    }
}

fn integer(value: &Bound<'_, PyAny>, path: &ValuePath<'_>) -> PyResult<Json> {
    if let Ok(number) = value.extract::<i64>() {
        return Ok(Json::Int(number));
    }
    // An `int` subclass may print as anything: its own digits count.
    let digits = value.py().get_type::<PyInt>().call_method1("__repr__", (value,));
    let number = digits.ok().and_then(|digits| digits.extract::<String>().ok());
    match number.and_then(|digits| Json::number(&digits)) {
        Some(number) => Ok(number),
        None => path.refuse("is a larger integer than Guard reads"),
    }
}

fn float(value: &Bound<'_, PyFloat>, path: &ValuePath<'_>) -> PyResult<Json> {
    let number = value.value();
    if !number.is_finite() {
        return path.refuse(&format!("is {number}, which is not JSON"));
    }
    let text = value.py().get_type::<PyFloat>().call_method1("__repr__", (value,))?;
    let text: String = text.extract()?;
    match Json::number(&text) {
        Some(number) => Ok(number),
        None => path.refuse("is not a number that Guard reads"),
    }
}

fn deeper<'a>(path: &'a ValuePath<'a>, step: MessageStep<'a>) -> PyResult<ValuePath<'a>> {
    Ok(ValuePath { step: Some(step), above: Some(path), depth: path.depth + 1 })
}

fn expect_shallow(path: &ValuePath<'_>) -> PyResult<()> {
    if path.depth >= MAX_DEPTH {
        Err(argument(format!("the value has more than {MAX_DEPTH} levels, or contains itself")))
    } else {
        Ok(())
    }
}

fn array<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    path: &ValuePath<'_>,
) -> PyResult<Json> {
    expect_shallow(path)?;
    let read = |(index, item): (usize, Bound<'py, PyAny>)| {
        read(&item, &deeper(path, MessageStep::Index(index))?)
    };
    Ok(Json::Array(items.enumerate().map(read).collect::<PyResult<_>>()?))
}

fn object(members: &Bound<'_, PyDict>, path: &ValuePath<'_>) -> PyResult<Json> {
    expect_shallow(path)?;
    let mut read_members = Vec::with_capacity(members.len());
    for (key, value) in members {
        let Ok(key) = key.cast::<PyString>() else {
            let class = key.get_type().name()?;
            return path.refuse(&format!("has a key of type `{class}`; JSON keys are text"));
        };
        let Json::String(key) = string(key, path)? else {
            return path.refuse("has a key that is not text");
        };
        let value = read(&value, &deeper(path, MessageStep::Key(&key))?)?;
        read_members.push((key, value));
    }
    Ok(Json::Object(read_members))
}

/// The arguments of a call.
pub enum CallText {
    /// The text that the model wrote.
    Text(String),
    /// A value.
    Value(Json),
}

impl CallText {
    /// The arguments as JSON text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            CallText::Text(text) => text.into(),
            CallText::Value(json) => json.to_string().into(),
        }
    }

    /// The arguments as a value.
    pub fn into_json(self) -> PyResult<Json> {
        match self {
            CallText::Value(json) => Ok(json),
            CallText::Text(text) => Json::parse(&text)
                .map_err(|error| argument(format!("the arguments are not JSON: {error}"))),
        }
    }
}

/// Arguments as a caller gives them: text is taken as the model wrote it, nothing is an empty object.
pub fn arguments(args: Option<&Bound<'_, PyAny>>) -> PyResult<CallText> {
    let Some(args) = args else { return Ok(CallText::Value(Json::Object(Vec::new()))) };
    match args.cast::<PyString>() {
        Ok(text) => match text.to_cow() {
            Ok(text) => Ok(CallText::Text(text.into_owned())),
            Err(_) => {
                Err(argument("the arguments have a lone surrogate, which is not Unicode text"))
            }
        },
        Err(_) => Ok(CallText::Value(json(args)?)),
    }
}

/// The canonical text of a value, or why it is not JSON.
#[pyfunction]
#[pyo3(name = "_json_text")]
pub fn json_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(json(value)?.to_string())
}

/// A JSON value as Python objects; numbers with a point become `float`.
pub fn to_python<'py>(py: Python<'py>, json: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match json {
        Json::Null => py.None().into_bound(py),
        Json::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Json::Int(number) => number.into_pyobject(py)?.into_any(),
        Json::Number(text) if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
            py.get_type::<PyFloat>().call1((&**text,))?
        }
        Json::Number(text) => py.get_type::<PyInt>().call1((&**text,))?,
        Json::String(text) => PyString::new(py, text).into_any(),
        Json::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Json::Object(members) => {
            let dict = PyDict::new(py);
            for (key, value) in members {
                dict.set_item(&**key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Anything that the engine writes as JSON, as Python objects.
pub fn serialized<'py>(
    py: Python<'py>,
    value: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let failed = |error: &dyn std::fmt::Display| {
        crate::errors::GuardError::new_err(format!("an outcome cannot be shown: {error}"))
    };
    let text = serde_json::to_string(value).map_err(|error| failed(&error))?;
    match Json::parse(&text) {
        Ok(json) => to_python(py, &json),
        // Deeper than Guard reads, which the engine's own outcomes are not.
        Err(error) => Err(failed(&error)),
    }
}

/// A time: seconds since 1970, a `datetime` with its zone, or RFC 3339 text. In milliseconds since 1970.
pub fn millis(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let wrong =
        || argument("a time is a number of seconds, a `datetime` with a zone, or RFC 3339 text");
    if let Ok(text) = value.extract::<String>() {
        return time::parse_rfc3339(&text).ok_or_else(wrong);
    }
    if let Ok(zone) = value.getattr("tzinfo") {
        if zone.is_none() {
            return Err(argument("a `datetime` without a zone names no instant"));
        }
        let seconds: f64 = value.call_method0("timestamp")?.extract()?;
        return Ok((seconds * 1000.0).round() as i64);
    }
    match value.extract::<f64>() {
        Ok(seconds) if seconds.is_finite() => Ok((seconds * 1000.0).round() as i64),
        _ => Err(wrong()),
    }
}

/// An amount in 10⁻⁶ units: an `int`, a `float`, a `Decimal` or its text.
pub fn amount(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let text = value.str()?.to_string();
    decimal::parse(&text).ok_or_else(|| {
        argument(format!("`{text}` is not an amount: a number with at most six decimal places"))
    })
}
